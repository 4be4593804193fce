// Teaching a deck: each step is a form; the console answers with what stands there next.
import { post, say } from "./orders.js";

const work = document.getElementById("work");
const said = document.getElementById("said");

function read(form) {
  const found = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    found[field.name] = field.dataset.type === "bool" ? field.checked : field.dataset.type === "int" ? Number(field.value) : field.value;
  }
  return found;
}

work.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const act = form.dataset.deck;
  const buttons = [...work.querySelectorAll("button")];
  buttons.forEach((one) => { one.disabled = true; });
  said.textContent = act === "make" ? "reading the pictures …" : "";
  const answer = await post(`/table/${work.dataset.table}/deck/${act}`, read(form));
  said.textContent = answer.message;
  said.className = answer.ok ? "" : "fault";
  if (answer.ok) {
    work.innerHTML = answer.html;
    (act === "take" ? work.querySelector('form[data-deck="take"] button') : work.querySelector("input, select, button"))?.focus();
  } else {
    buttons.forEach((one) => { one.disabled = false; });
    say(answer.message, true);
  }
});
