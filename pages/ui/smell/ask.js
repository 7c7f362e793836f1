// A text box that answers while one types: a paste is sent at once, typing after a short rest.

const REST = 350; // milliseconds without a key
const LONGEST_ROWS = 9;
const boxes = new WeakMap();

export default function (component) {
  const { parentElement, data } = component;
  let box = boxes.get(parentElement);
  if (!box) {
    box = new Box(parentElement);
    boxes.set(parentElement, box);
  }
  box.update(component, data);
  return () => {
    if (!parentElement.isConnected) clearTimeout(boxes.get(parentElement)?.pending);
  };
}

class Box {
  constructor(root) {
    this.area = root.querySelector("textarea");
    this.chips = root.querySelector(".examples");
    this.version = null;
    this.sent = null;
    this.area.addEventListener("input", () => {
      this.grow();
      clearTimeout(this.pending);
      this.pending = setTimeout(() => this.send(), REST);
    });
    this.area.addEventListener("paste", (event) => {
      const pasted = event.clipboardData?.getData("text")?.length ?? 0;
      if (pasted > this.longest) {
        event.preventDefault(); // megabytes would freeze the box; what stands in it stays
        this.report({ length: pasted, version: this.version });
        return;
      }
      clearTimeout(this.pending);
      this.pending = setTimeout(() => this.send(), 0); // once the text has arrived in the box
    });
    this.area.addEventListener("blur", () => this.send());
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send();
    });
  }

  // Text that Python chose (an example, a link) replaces what is here; an echo of our own does not.
  update(component, data) {
    if (data.version < this.version) return; // a call that waited for this script came late
    this.report = (typed) => component.setStateValue("typed", typed);
    this.longest = data.longest;
    this.offer(data.examples, (name) => component.setTriggerValue("example", name));
    for (const chip of this.chips.children)
      chip.setAttribute("aria-pressed", chip.textContent === data.lit);
    if (data.version !== this.version) {
      this.version = data.version;
      this.sent = data.text;
      this.area.value = data.text;
      this.grow();
    }
  }

  // Buttons, not a widget with a value: the browser's old value would come back with a poll.
  offer(names, take) {
    this.take = take;
    if (this.chips.children.length) return;
    for (const name of names) {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.textContent = name;
      chip.addEventListener("click", () => this.take(name));
      this.chips.append(chip);
    }
  }

  send() {
    clearTimeout(this.pending);
    const text = this.area.value;
    if (text === this.sent) return;
    this.sent = text;
    // Beyond the limit only the length travels; Python says what to do.
    const long = text.length > this.longest;
    this.report({ length: text.length, version: this.version, ...(long ? {} : { text }) });
  }

  grow() {
    let lines = 1;
    for (let at = -1; lines < LONGEST_ROWS; lines++) {
      at = this.area.value.indexOf("\n", at + 1);
      if (at < 0) break;
    }
    this.area.rows = Math.max(2, Math.min(lines, LONGEST_ROWS));
  }
}
