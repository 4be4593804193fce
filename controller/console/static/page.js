// What every page shares: live pieces, honesty about silence, orders, keys, the lock and sound.
import { listen } from "./live.js";
import { openDialog, acknowledge, mistake, say } from "./orders.js";
import { guardLock, lockNow } from "./lock.js";
import { cue, toggleSound, showSound } from "./sound.js";
import { watchCameras } from "./camera.js";
import { handleKeys } from "./keys.js";

const tableOf = (element) => element.closest("[data-table]")?.dataset.table ?? document.body.dataset.table;

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button || button.disabled) return;
  if (button.dataset.dialog) openDialog(tableOf(button), button.dataset.dialog, button.dataset.n);
  else if (button.dataset.ack) acknowledge(tableOf(button), button.dataset.ack);
  else if (button.dataset.mistake) mistake(tableOf(button), button.dataset.mistake);
  else if (button.dataset.do === "lock") lockNow();
  else if (button.dataset.do === "mute") toggleSound();
  else if (button.dataset.do === "help") openDialog(null, "help");
  else if ("close" in button.dataset) button.closest("dialog").close();
});

watchCameras();
showSound();
guardLock();
handleKeys(tableOf);
if (document.body.dataset.live) listen(document.body.dataset.live, cue, say);
