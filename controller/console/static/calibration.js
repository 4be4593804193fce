// Polygons over the picture: corners by pointer or by arrow keys; saved as a new version by the console.
import { post, say } from "./orders.js";

const stage = document.getElementById("stage");
const svg = stage.querySelector("svg");
const handles = document.getElementById("handles");
const chooser = document.getElementById("position");
const polygons = [...svg.querySelectorAll("[data-position]")];
const before = new Map(polygons.map((one) => [one.dataset.position, one.getAttribute("points")]));
let chosen = null;

const pointsOf = (polygon) => polygon.getAttribute("points").trim().split(/\s+/).map((pair) => pair.split(",").map(Number));
const isChanged = (polygon) => polygon.getAttribute("points") !== before.get(polygon.dataset.position);

function choose(name) {
  chosen = polygons.find((one) => one.dataset.position === name) ?? null;
  polygons.forEach((one) => one.classList.toggle("chosen", one === chosen));
  chooser.value = name;
  handles.replaceChildren(...(chosen ? pointsOf(chosen).map(handle) : []));
}

function handle([x, y], n) {
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  dot.setAttribute("r", "9");
  dot.setAttribute("cx", x);
  dot.setAttribute("cy", y);
  dot.setAttribute("tabindex", "0");
  dot.setAttribute("role", "button");
  dot.setAttribute("aria-label", `${chosen.dataset.position}, corner ${n + 1}`);
  dot.addEventListener("pointerdown", (event) => { dot.setPointerCapture(event.pointerId); dot.focus(); event.preventDefault(); });
  dot.addEventListener("pointermove", (event) => { if (dot.hasPointerCapture(event.pointerId)) place(n, dot, toPicture(event)); });
  dot.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 10 : 1;
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!by) return;
    const [px, py] = pointsOf(chosen)[n];
    place(n, dot, [px + by[0], py + by[1]]);
    event.preventDefault();
    event.stopPropagation();
  });
  return dot;
}

function toPicture(event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [at.x, at.y];
}

function place(n, dot, [x, y]) {
  const points = pointsOf(chosen);
  points[n] = [Math.round(x * 10) / 10, Math.round(y * 10) / 10];
  chosen.setAttribute("points", points.map((one) => one.join(",")).join(" "));
  dot.setAttribute("cx", points[n][0]);
  dot.setAttribute("cy", points[n][1]);
  tell();
}

function tell() {
  polygons.forEach((one) => one.classList.toggle("changed", isChanged(one)));
  const names = polygons.filter(isChanged).map((one) => one.dataset.position);
  document.getElementById("changed").textContent = names.length ? `changed: ${names.join(", ")}` : "nothing changed";
  for (const id of ["save", "undo"]) { const button = document.getElementById(id); if (button) button.disabled = !names.length; }
}

async function save() {
  const changed = Object.fromEntries(polygons.filter(isChanged).map((one) => [one.dataset.position, pointsOf(one)]));
  const answer = await post(`/table/${stage.dataset.table}/calibration`, {
    polygons: changed, version: Number(stage.dataset.version), newest: Number(stage.dataset.newest), reason: document.getElementById("reason").value.trim(),
  });
  document.getElementById("changed").textContent = answer.message;
  if (answer.ok) { polygons.forEach((one) => before.set(one.dataset.position, one.getAttribute("points"))); polygons.forEach((one) => one.classList.remove("changed")); }
  if (answer.ok) stage.dataset.version = stage.dataset.newest = answer.version;
  say(answer.ok ? `saved as version ${answer.version}` : answer.message, !answer.ok);
}

async function find() {
  const answer = await fetch(`/table/${stage.dataset.table}/calibration/markers`, { headers: { accept: "application/json" } }).then((one) => one.json(), () => ({ message: "the console does not answer" }));
  const found = answer.markers ?? [];
  document.getElementById("found").textContent = answer.markers ? `markers seen: ${found.map((one) => one.id).join(", ") || "none"}` : answer.message;
  const scale = answer.size ? svg.viewBox.baseVal.width / answer.size[0] : 1;
  document.getElementById("markers").innerHTML = found.map((one) => ({ ...one, corners: one.corners.map(([x, y]) => [x * scale, y * scale]) })).map((one) => `<polygon points="${one.corners.map((c) => c.join(",")).join(" ")}"/><text x="${one.corners[1][0] + 6}" y="${one.corners[1][1]}">${one.id}</text>`).join("");
}

svg.addEventListener("click", (event) => { const one = event.target.closest("[data-position]"); if (one) choose(one.dataset.position); });
chooser.addEventListener("change", () => choose(chooser.value));
document.getElementById("save")?.addEventListener("click", save);
document.getElementById("find")?.addEventListener("click", find);
document.getElementById("undo").addEventListener("click", () => { polygons.forEach((one) => one.setAttribute("points", before.get(one.dataset.position))); choose(chosen?.dataset.position ?? ""); tell(); });
