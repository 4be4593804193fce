// The screen locks when nobody touches it; the picture stays, orders need the password again.
import { post } from "./orders.js";

const EVERY_MS = 10000;
let told = 0;

export function guardLock() {
  const form = document.getElementById("unlock");
  if (!form) return;
  for (const kind of ["keydown", "pointerdown", "pointermove"]) document.addEventListener(kind, touch, { passive: true });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = form.elements.password;
    const answer = await post("/unlock", { password: field.value });
    field.value = "";
    form.querySelector("[data-unlock-text]").textContent = answer.ok ? "" : answer.message;
    if (!answer.ok) { field.focus(); return; }
    document.body.classList.remove("locked");
    document.getElementById("lockbar").hidden = true;
    if (!document.body.dataset.live) location.href = document.querySelector("main a")?.getAttribute("href") ?? "/";
  });
}

function touch() {
  if (performance.now() - told < EVERY_MS || document.body.classList.contains("locked")) return;
  told = performance.now();
  post("/touch", {});
}

export async function lockNow() {
  const answer = await post("/lock", {});
  if (!answer.ok) return;
  document.getElementById("dialog").close();
  document.body.classList.add("locked");
  const bar = document.getElementById("lockbar");
  bar.hidden = false;
  bar.querySelector("input").focus();
}
