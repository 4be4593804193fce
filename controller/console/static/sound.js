// Three cues: a card is due, a stop, an alarm. Browsers keep silent until somebody presses something.
const KEY = "dealerd-sound";
let context = null;
let last = "";
let alarms = 0;

const wanted = () => localStorage.getItem(KEY) !== "off";

export function showSound() {
  const button = document.querySelector('[data-do="mute"]');
  if (!button) return;
  button.setAttribute("aria-pressed", String(wanted()));
  button.innerHTML = `Sound ${wanted() ? "on" : "off"} <kbd>m</kbd>`;
}

export function toggleSound() {
  localStorage.setItem(KEY, wanted() ? "off" : "on");
  showSound();
}

for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, () => { context ??= new AudioContext(); context.resume(); }, { passive: true });

export function cue() {
  const prompt = document.querySelector(".prompt[data-kind]");
  const now = prompt ? `${prompt.dataset.kind} ${prompt.dataset.words}` : "";
  if (now !== last) {
    if (prompt?.dataset.kind === "act") tone([880], 0.09);
    if (prompt?.dataset.kind === "stop" && !last.startsWith("stop")) tone([440, 330, 440], 0.18);
    last = now;
  }
  const raised = document.querySelectorAll("[data-ack]").length;
  if (raised > alarms) tone([660, 495], 0.15);
  alarms = raised;
}

function tone(pitches, length) {
  document.body.dataset.cue = String(Number(document.body.dataset.cue ?? 0) + 1);
  if (!wanted() || context?.state !== "running") return;
  pitches.forEach((pitch, n) => {
    const voice = context.createOscillator();
    const loud = context.createGain();
    const from = context.currentTime + n * length;
    voice.frequency.value = pitch;
    loud.gain.setValueAtTime(0.0001, from);
    loud.gain.exponentialRampToValueAtTime(0.25, from + 0.01);
    loud.gain.exponentialRampToValueAtTime(0.0001, from + length);
    voice.connect(loud).connect(context.destination);
    voice.start(from);
    voice.stop(from + length);
  });
}
