// Orders: a dialog drawn by the console shows the state that is decided on; what is sent carries that state's seq.
import { watchCameras } from "./camera.js";
import { isBlind, seqs } from "./live.js";

const dialog = document.getElementById("dialog");
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";

export async function post(address, body) {
  try {
    const answer = await fetch(address, { method: "POST", headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": csrf }, body: JSON.stringify(body) });
    return await answer.json();
  } catch {
    return { ok: false, message: "the console does not answer" };
  }
}

export function say(text, bad) {
  const toast = document.getElementById("toast");
  toast.className = bad ? "bad" : "";
  toast.textContent = text;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { toast.textContent = ""; }, bad ? 8000 : 3500);
}

export async function openDialog(table, what, number) {
  if (what !== "help" && isBlind()) return;
  const known = table ?? document.body.dataset.table ?? document.querySelector("[data-table]")?.dataset.table;
  if (!known) return;
  let answer;
  try {
    answer = await fetch(`/table/${known}/dialog/${what}${number ? `?n=${encodeURIComponent(number)}` : ""}`, { headers: { accept: "application/json" } });
  } catch { say("the console does not answer", true); return; }
  if (!answer.ok) { say((await answer.json()).message, true); return; }
  dialog.innerHTML = await answer.text();
  watchCameras();
  if (!dialog.open) dialog.showModal();
  (dialog.querySelector("[autofocus]") ?? dialog.querySelector("button.primary"))?.focus();
  dialog.querySelector("input[autofocus]:not([type=radio])")?.select();
}

dialog.addEventListener("close", () => { dialog.replaceChildren(); });

dialog.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  if (isBlind()) return;
  const send = form.querySelector("button.primary");
  send.disabled = true;
  const { order, table, seq, id } = form.dataset;
  const args = read(form);
  const answer = args.countersign
    ? await post(`/table/${table}/countersign`, { ...args, id })
    : await post(`/table/${table}/order`, { command: order, args, seen_seq: Number(seq), id });
  send.disabled = false;
  if (answer.ok) { dialog.close(); say(`${order.replaceAll("_", " ")}: done`); return; }
  form.querySelector("[data-said]").textContent = answer.message;
  if (answer.code === "stale") form.querySelector("[data-said]").textContent += " Close this and look again.";
});

function read(form) {
  const args = {};
  for (const field of form.elements) {
    if (!field.name || (field.type === "radio" && !field.checked)) continue;
    const value = field.value.trim();
    if (value === "" && "optional" in field.dataset) continue;
    switch (field.dataset.type) {
      case "int": args[field.name] = Number(value); break;
      case "bool": args[field.name] = field.checked; break;
      case "card": if (value !== field.dataset.was) (args.cards ??= []).push([field.dataset.position, value]); break;
      case "yes": args[field.name] = value === "yes"; break;
      case "list": args[field.name] = value.split(/[\s,]+/); break;
      case "keep": args[field.name] = /^\d+$/.test(value) ? Number(value) : value; break;
      default: args[field.name] = value;
    }
  }
  return args;
}

export async function acknowledge(table, key) {
  if (isBlind()) return;
  const answer = await post(`/table/${table}/acknowledge`, { key });
  say(answer.ok ? "acknowledged" : answer.message, !answer.ok);
}

export async function mistake(table, name) {
  const answer = await post(`/table/${table}/mistake`, { mistake: name, seq: seqs[table] });
  say(answer.message ?? "", !answer.ok);
}
