// Pieces of HTML come ready from the console; here they only take their place. A page that hears nothing says so.
const SILENCE_MS = 1500;
const body = document.body;
let heard = performance.now();
let heardAt = new Date();
let tableStale = null;
let source = null;
let sound = () => {};
let leaving = false;

export const seqs = {};
export const isBlind = () => body.classList.contains("stale") || body.classList.contains("locked");

export function listen(address, cue) {
  sound = cue;
  connect(address);
  setInterval(() => { check(address); countDown(); }, 100);
  // Whoever logs off goes where that leads: the stream's own end must not be faster and bring the next person here.
  document.addEventListener("submit", (event) => { leaving ||= event.target.getAttribute("action") === "/logoff"; });
}

function connect(address) {
  source?.close();
  source = new EventSource(address);
  source.onmessage = (event) => take(JSON.parse(event.data));
}

function take(message) {
  heard = performance.now();
  heardAt = new Date();
  if (leaving) return;
  if (message.over) { location.href = "/logon?next=" + encodeURIComponent(location.pathname); return; }
  Object.assign(seqs, message.seq);
  for (const [id, html] of Object.entries(message.parts)) {
    if (id === "floor-order") reorder(html.split(" "));
    else replace(document.getElementById(id), html);
  }
  tableStale = body.dataset.table ? message.stale[body.dataset.table] ?? null : null;
  body.classList.toggle("locked", message.locked);
  const bar = document.getElementById("lockbar");
  if (bar.hidden !== !message.locked) bar.hidden = !message.locked;
  if (Object.keys(message.parts).length) {
    body.dataset.seq = body.dataset.table ? message.seq[body.dataset.table] : "";
    body.dispatchEvent(new CustomEvent("shown"));
    sound();
  }
  settle();
}

// The focused control keeps its focus although its surroundings are drawn anew.
function replace(element, html) {
  if (!element) return;
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const mark = focused && [...element.querySelectorAll("a, button")].indexOf(focused);
  const like = focused && (focused.dataset.dialog ? `[data-dialog="${focused.dataset.dialog}"]` : focused.dataset.ack ? `[data-ack="${focused.dataset.ack}"]` : null);
  element.innerHTML = html;
  for (const one of element.querySelectorAll("[data-left]")) one.ends = performance.now() + Number(one.dataset.left);
  if (focused) (like && element.querySelector(like) || [...element.querySelectorAll("a, button")][like ? 0 : mark])?.focus();
}

function reorder(ids) {
  const tiles = document.getElementById("tiles");
  const focused = document.activeElement;
  ids.forEach((id, at) => {
    const tile = document.getElementById("tile-" + id);
    if (tile && tiles.children[at] !== tile) tiles.insertBefore(tile, tiles.children[at] ?? null);
  });
  if (focused !== document.activeElement && tiles.contains(focused)) focused.focus();
}

function check(address) {
  settle();
  if (source.readyState === EventSource.CLOSED) {
    source.close();
    source = { readyState: 0, close() {} };
    setTimeout(() => fetch("/who", { headers: { accept: "application/json" } }).then(
      (answer) => { if (leaving) return; if (answer.status === 401) location.href = "/logon?next=" + encodeURIComponent(location.pathname); else connect(address); },
      () => connect(address)), 500);
  }
}

function settle() {
  const silent = performance.now() - heard > SILENCE_MS;
  const stale = silent || tableStale !== null;
  if (stale) {
    const since = silent ? heardAt.toISOString().slice(11, 19) : tableStale.slice(11, 19);
    const who = silent ? "the console does not answer" : "the table is not heard";
    const text = `since ${since} UTC: ${who}; what you see may not be true any more`;
    const shown = document.querySelector("[data-stale-text]");
    if (shown.textContent !== text) shown.textContent = text;
  }
  document.getElementById("stale").hidden = !stale;
  body.classList.toggle("stale", stale);
  const blind = isBlind();
  for (const button of document.querySelectorAll("[data-act], [data-mistake]")) {
    const off = blind || Boolean(button.closest(".tile.stale"));
    if (button.disabled !== off) button.disabled = off;
  }
}

function countDown() {
  const now = performance.now();
  for (const one of document.querySelectorAll("[data-left]")) {
    one.ends ??= now + Number(one.dataset.left);
    const left = Math.max(0, one.ends - now);
    const text = String(Math.ceil(left / 1000));
    const shown = one.querySelector("[data-seconds]");
    if (shown.textContent !== text) shown.textContent = text;
    one.classList.toggle("short", left < 3000);
  }
}
