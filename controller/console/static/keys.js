// One key, one order. Letters work wherever nobody is typing.
import { openDialog } from "./orders.js";
import { lockNow } from "./lock.js";
import { toggleSound } from "./sound.js";

const DIALOGS = { p: "pause", r: "resume", i: "resolve", y: "approve", v: "void", o: "reopen", s: "load_shoe", c: "confirm", t: "report", g: "log_on" };
const MOVES = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

export function handleKeys(tableOf) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
    if (MOVES[event.key] && document.getElementById("tiles")) { move(MOVES[event.key]); event.preventDefault(); return; }
    const here = document.activeElement.closest("[data-table]") ?? document.body;
    if (event.key === "a") here.querySelector("[data-ack]:not(:disabled)")?.click();
    else if (event.key === "m") toggleSound();
    else if (event.key === "l") lockNow();
    else if (event.key === "?") openDialog(null, "help");
    else if (DIALOGS[event.key]) press(here, DIALOGS[event.key], tableOf);
    else return;
    event.preventDefault();
  });
}

// Only what the page offers can be ordered: the key presses the button.
function press(here, what) {
  here.querySelector(`[data-dialog="${what}"]:not(:disabled)`)?.click();
}

function move([dx, dy]) {
  const tiles = [...document.querySelectorAll("[data-tile]")];
  const at = tiles.findIndex((tile) => tile.closest(".tile-box").contains(document.activeElement));
  if (at < 0) { tiles[0]?.focus(); return; }
  const box = tiles[at].getBoundingClientRect();
  if (dx) { tiles[at + dx]?.focus(); return; }
  const rows = tiles.filter((tile) => dy * (tile.getBoundingClientRect().top - box.top) > 4);
  rows.sort((one, other) => distance(one, box) - distance(other, box));
  rows[0]?.focus();
}

function distance(tile, box) {
  const other = tile.getBoundingClientRect();
  return Math.abs(other.top - box.top) * 2 + Math.abs(other.left - box.left);
}
