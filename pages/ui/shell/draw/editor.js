// JSME's paper, and tools of ours in place of its own, which stay outside of what is seen: a tool
// presses JSME's button. The drawing is told after a short rest; what is typed is drawn at once.

const REST = 50; // milliseconds without a change of the drawing
const LEFT = 25, TOP = 49, BELOW = 24; // what JSME's own bars take, at the sides of its paper
const BOND = 25; // its length in pixels at scale 1
const [SMALLEST, EMPTY, LARGEST] = [0.4, 1.6, 2]; // scale
const [BARS, ATOMS] = [1, 2]; // its pictures: 0 is the paper
const boards = new WeakMap();

const ring = (n, inner = "") => {
  const at = (k, r) => [12 + r * Math.sin((2 * Math.PI * k) / n), 12 - r * Math.cos((2 * Math.PI * k) / n)];
  const points = [...Array(n).keys()].map((k) => at(k, 9).map((x) => x.toFixed(1)).join(","));
  return `<polygon points="${points.join(" ")}"/>${inner}`;
};
const atom = (symbol, place, name) => ({ name, text: symbol, bar: ATOMS, x: 12, y: 12 + 25 * place });
const tool = (name, icon, column, row = 1) => ({ name, icon, bar: BARS, x: 12 + 25 * column, y: 12 + 25 * row });
const act = (name, icon, column) => ({ ...tool(name, icon, column, 0), acts: true });

const TOOLS = [
  [
    tool("Single bond", '<path d="M4 18 20 6"/>', 1),
    tool("Double bond", '<path d="M3 16 17 5M7 20 21 9"/>', 2),
    tool("Triple bond", '<path d="M2 15 15 4M5 18 19 7M9 21 22 10"/>', 3),
    tool("Wedge: up, down, and back", '<path d="M4 19 17 4 21 9Z" fill="currentColor"/>', 0),
    tool("Chain", '<path d="M2 15 7 9 12 15 17 9 22 15"/>', 4),
  ],
  [
    tool("Ring of three", ring(3), 5),
    tool("Ring of four", '<path d="M5 5H19V19H5Z"/>', 6),
    tool("Ring of five", ring(5), 7),
    tool("Ring of six", ring(6), 9),
    tool("Benzene", ring(6, '<circle cx="12" cy="12" r="4.5"/>'), 8),
    tool("Ring of seven", ring(7), 10),
  ],
  [
    atom("C", 0, "Carbon"), atom("N", 1, "Nitrogen"), atom("O", 2, "Oxygen"), atom("S", 3, "Sulfur"),
    atom("F", 4, "Fluorine"), atom("Cl", 5, "Chlorine"), atom("Br", 6, "Bromine"),
  ],
  [
    tool("Charge", '<path d="M12 3V13M7 8H17M7 19H17"/>', 7, 0),
    tool("Delete an atom or a bond", '<path d="M9 20H20M5 14 14 4 20 10 11 19H9Z"/>', 3, 0),
    act("Undo", '<path d="M9 5 4 10 9 15M4 10H14A5 5 0 0 1 14 20H10"/>', 9),
    act("Redo", '<path d="M15 5 20 10 15 15M20 10H10A5 5 0 0 0 10 20H14"/>', 10),
    { name: "Clear", icon: '<path d="M5 7H19M9 7V4H15V7M7 7 8 20H16L17 7"/>', acts: true },
  ],
]; // prettier-ignore

export default function (component) {
  const { parentElement, data } = component;
  let board = boards.get(parentElement);
  if (!board) boards.set(parentElement, (board = new Board(parentElement)));
  board.update(component, data);
  return () => {
    if (!parentElement.isConnected) board.end();
  };
}

// Once for a page, whatever copies of this script it holds.
function jsme(files) {
  window.kcnetEditor ??= new Promise((done, failed) => {
    window.jsmeOnLoad = done;
    const script = document.createElement("script");
    script.src = `${files}/jsme.nocache.js`;
    script.onerror = () => {
      delete window.kcnetEditor;
      failed();
    };
    document.head.append(script);
  });
  return window.kcnetEditor;
}

// Width and height of a drawing, in lengths of a bond.
function extent(molFile) {
  const lines = molFile.split("\n");
  const [n, bonds] = [lines[3]?.slice(0, 3), lines[3]?.slice(3, 6)].map(Number);
  const atoms = lines.slice(4, 4 + n).map((line) => line.trim().split(/\s+/).slice(0, 2).map(Number));
  if (!bonds) return [1, 1];
  const bond = lines[4 + n];
  const [a, b] = [bond.slice(0, 3), bond.slice(3, 6)].map((k) => atoms[k - 1]);
  const length = Math.hypot(a[0] - b[0], a[1] - b[1]);
  return [0, 1].map((axis) => {
    const all = atoms.map((atom) => atom[axis]);
    return Math.max(1, (Math.max(...all) - Math.min(...all)) / length);
  });
}

class Board {
  constructor(root) {
    this.paper = root.querySelector(".kcnet-paper");
    this.said = root.querySelector(".kcnet-said");
    const groups = TOOLS.map((group) => group.map((one) => this.button(one)));
    this.buttons = groups.flat();
    root.querySelector(".kcnet-tools").replaceChildren(...groups.map((buttons) => {
      const group = document.createElement("span");
      group.replaceChildren(...buttons);
      return group;
    }));
    this.heard = null; // the text that the page had last
    this.sent = []; // drawings that the page has not yet answered
    this.drawn = ""; // what is drawn, as JSME writes it
  }

  button(one) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = one.name;
    // Who speaks to a browser says what is to be read, and "Cl" is no word of "Chlorine".
    const read = one.text?.length > 1;
    button.setAttribute("aria-label", read ? `${one.text}, ${one.name}` : one.name);
    if (one.text) button.textContent = one.text;
    else button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${one.icon}</svg>`;
    if (!one.acts) button.setAttribute("aria-pressed", one.name === "Single bond");
    button.disabled = true;
    button.addEventListener("click", () => {
      this.press(one);
      if (!one.acts) this.press(one); // the first after a ring on empty paper is lost
      if (!one.acts)
        for (const other of this.buttons)
          if (other.hasAttribute("aria-pressed")) other.setAttribute("aria-pressed", other === button);
    });
    return button;
  }

  press({ bar, x, y }) {
    if (bar === undefined) return this.clear();
    const picture = this.paper.querySelectorAll("svg")[bar];
    const box = picture.getBoundingClientRect();
    const at = { bubbles: true, cancelable: true, clientX: box.x + x, clientY: box.y + y, view: window };
    for (const kind of ["mousemove", "mousedown", "mouseup", "click"])
      picture.dispatchEvent(new MouseEvent(kind, at));
  }

  clear() {
    this.app.reset(); // JSME's own button leaves things after an undo
    this.app.setMolecularAreaScale(EMPTY);
  }

  update(component, data) {
    this.tell = (smiles) => component.setTriggerValue("drawn", smiles);
    this.data = data;
    this.paper.classList.toggle("dark", data.dark);
    if (this.app) return this.follow();
    this.asked ??= jsme(data.files).then(
      () => this.begin(),
      () => {
        this.asked = null; // the next answer of the page tries again
        this.said.textContent = "The editor could not be fetched; what is typed counts all the same.";
      },
    );
  }

  begin() {
    const inner = document.createElement("div");
    inner.id = `kcnet-jsme-${Math.random().toString(36).slice(2)}`;
    inner.style.cssText = `position: absolute; left: -${LEFT}px; top: -${TOP}px`;
    this.paper.replaceChildren(inner);
    this.app = new JSApplet.JSME(inner.id, ...this.size(), { options: "newlook,stereo,norbutton" });
    this.app.setCallBack("AfterStructureModified", (event) => this.changed(event));
    for (const button of this.buttons) button.disabled = false;
    for (const field of document.querySelectorAll(".kcnet-paper input, .gwt-TextArea")) {
      field.setAttribute("aria-label", "Keys for the drawing"); // JSME's own, not to be seen
      field.removeAttribute("role"); // and yet it takes keys
    }
    this.watch = new ResizeObserver(() => this.app.setSize(...this.size()));
    this.watch.observe(this.paper);
    this.follow();
  }

  size() {
    return [`${this.paper.clientWidth + LEFT + 1}px`, `${this.paper.clientHeight + TOP + BELOW}px`];
  }

  // Draw what is typed, unless it came from here.
  follow() {
    const { typed, smiles, mol } = this.data;
    this.say();
    if (typed === this.heard) return;
    this.heard = typed;
    const echo = this.sent.indexOf(typed);
    this.sent.splice(0, echo < 0 ? this.sent.length : echo + 1);
    // An echo answers a drawing, perhaps not the latest; what is no molecule leaves it as it is.
    if (echo >= 0 || smiles === null) return;
    this.reading = true;
    if (mol) this.app.readMolFile(mol);
    else if (smiles) this.app.readGenericMolecularInput(smiles);
    else this.clear();
    if (smiles) this.settle();
    else this.drawn = "";
    this.awaited = smiles && this.drawn === ""; // what reads names is fetched first
    this.reading = false;
    this.say();
  }

  say() {
    const { smiles, empty } = this.data;
    const blank = this.drawn === "" && this.app && !this.awaited;
    this.said.textContent = blank ? empty : smiles === null ? "This is no molecule yet; the page says why." : "";
  }

  // What was read is no change, and is drawn as large as fits.
  settle() {
    this.drawn = this.app.smiles();
    this.awaited = false;
    this.say();
    const [wide, high] = extent(this.app.molFile());
    const fits = Math.min((0.85 * this.paper.clientWidth) / wide, (0.75 * this.paper.clientHeight) / high);
    this.app.setMolecularAreaScale(Math.max(SMALLEST, Math.min(fits / BOND, LARGEST)));
  }

  changed(event) {
    if (event.action.startsWith("read")) this.settle(); // perhaps late: what reads may be fetched first
    if (this.reading || event.action.startsWith("read")) return;
    clearTimeout(this.pending);
    this.pending = setTimeout(() => {
      const smiles = this.app.smiles();
      if (smiles === this.drawn) return; // an atom was moved
      this.drawn = smiles;
      this.sent.push(smiles);
      this.say();
      this.tell(smiles);
    }, REST);
  }

  end() {
    clearTimeout(this.pending);
    this.watch?.disconnect();
  }
}
