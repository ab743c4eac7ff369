// Added to textual.js: the address of the page, its own dashboard, its fonts, the focus, keys that are the browser's or
// come before the dashboard, and a question before the page closes.
"use strict";

const SECONDS_OF_NOTE = 12;
const startTerminal = window.onload;

window.onload = async (event) => {
  const terminal = document.querySelector("#terminal");
  // Its name in the address brings a page that is loaded again back to its own dashboard.
  const asked = new URLSearchParams(location.search);
  if (!asked.has("tab")) asked.set("tab", crypto.randomUUID());
  history.replaceState(null, "", `?${asked}`);
  terminal.dataset.sessionWebsocketUrl = `ws://${location.host}/ws/${asked.get("tab")}`;
  terminal.dataset.fontSize = asked.get("fontsize") || "16";
  // The terminal measures its letters once: the font must be there.
  await Promise.all(["", "bold ", "italic "].map((style) => document.fonts.load(`${style}16px "Roboto Mono"`)));
  startTerminal(event);
  new MutationObserver(handKeysOver).observe(document.body, { attributes: true });
  document.querySelector("#again").addEventListener("click", startAnother);
};

async function startAnother() {
  try {
    await fetch("/page.js");
    location.reload();
  } catch {
    document.querySelector("#ended p").textContent =
      "The server has ended too. Start it again with: chordless tui --web. Then open the address that it prints.";
  }
}

// The dots of braille in fonts do not touch, so that lines would fall apart: here each is an eighth of its cell.
const BRAILLE = 0x2800;
const COLUMN_AND_ROW_OF_DOT = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [0, 3], [1, 3]];
const fillText = CanvasRenderingContext2D.prototype.fillText;

CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const dots = text.charCodeAt(0) - BRAILLE;
  if (text.length !== 1 || dots < 0 || dots > 255) return fillText.call(this, text, x, y, ...rest);
  // The cell of the terminal, which draws with its baseline at the bottom.
  const letter = this.measureText("M");
  const width = Math.floor(letter.width);
  const height = Math.round(letter.fontBoundingBoxAscent + letter.fontBoundingBoxDescent);
  COLUMN_AND_ROW_OF_DOT.forEach(([column, row], dot) => {
    if (!((dots >> dot) & 1)) return;
    const [left, right] = [column, column + 1].map((edge) => Math.round((edge * width) / 2));
    const [top, bottom] = [row, row + 1].map((edge) => Math.round((edge * height) / 4));
    this.fillRect(x + left, y - height + top, right - left, bottom - top);
  });
};

window.addEventListener("focus", focusTerminal);

function focusTerminal() {
  document.querySelector(".xterm-helper-textarea")?.focus();
}

// The terminal would take them: paste, load again, full screen, and the browser's tools.
window.addEventListener(
  "keydown",
  (event) => {
    const pastes = event.ctrlKey && !event.altKey && event.key.toLowerCase() === "v";
    if (pastes || /^F(5|11|12)$/.test(event.key)) event.stopImmediatePropagation();
  },
  true,
);

// What is typed while the page starts waits for the connection, which the terminal does not.
const earlyKeys = [];
window.addEventListener("keydown", keepKey, true);

function keepKey(event) {
  // A page that was never connected has a button to start another.
  if (document.body.classList.contains("-closed")) return;
  // These are the browser's until then.
  if (event.ctrlKey || event.altKey || event.metaKey || /^F\d+$/.test(event.key)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  earlyKeys.push(event);
}

function handKeysOver(_, observer) {
  if (!document.body.classList.contains("-loaded")) return;
  observer.disconnect();
  window.removeEventListener("keydown", keepKey, true);
  focusTerminal();
  const field = document.querySelector(".xterm-helper-textarea");
  for (const early of earlyKeys) {
    const letter = { data: early.key, inputType: "insertText" };
    const event = early.key.length === 1 ? new InputEvent("input", letter) : new KeyboardEvent("keydown", early);
    field.dispatchEvent(event);
  }
}

window.addEventListener("beforeunload", (event) => {
  const classes = document.body.classList;
  if (!classes.contains("-loaded") || classes.contains("-closed")) return;
  event.preventDefault();
  // Browsers ask in their own words. Who stays reads ours.
  const note = document.querySelector("#stay");
  setTimeout(() => {
    note.hidden = false;
    setTimeout(() => (note.hidden = true), 1000 * SECONDS_OF_NOTE);
  }, 100);
});
