// A 28 x 28 drawing surface: smooth strokes on screen, 784 brightness values to Python.

const SIDE = 28;
const FINE = 280; // strokes are kept at ten times the resolution, then averaged down
const PEN = 21; // width of a stroke, about MNIST's two pixels
const PAUSE = 60; // milliseconds in which moves of the pen are gathered
const IMPATIENT = 1200; // send the next state anyway after so many milliseconds without an answer
const surfaces = new WeakMap();

export default function (component) {
  const { parentElement, data } = component;
  if (!surfaces.has(parentElement)) surfaces.set(parentElement, new Surface(parentElement, data));
  const surface = surfaces.get(parentElement);
  surface.answered(component, data);
  return () => {
    if (!parentElement.isConnected) surface.close();
  };
}

class Surface {
  constructor(root, data) {
    this.sheet = root.querySelector(".sheet");
    this.canvas = root.querySelector("canvas");
    this.clearButton = root.querySelector(".clear");
    this.undoButton = root.querySelector(".undo");
    this.spoken = root.querySelector(".spoken");
    this.strokes = [];
    this.base = data?.base ?? null; // a drawing that came with the page: 784 values
    this.stroke = null;
    this.cursor = null; // pen position of the keyboard, in pixels of the 28 x 28 grid
    this.sent = data?.number ?? 0;
    this.waiting = false; // a state is on its way
    this.changed = false; // and another one has to follow

    this.fine = new OffscreenCanvas(FINE, FINE).getContext("2d", { willReadFrequently: true });
    this.listen();
    this.watcher = new ResizeObserver(() => this.paint());
    this.watcher.observe(this.sheet);
    this.redraw();
  }

  close() {
    this.watcher.disconnect();
    clearTimeout(this.pending);
    clearTimeout(this.impatience);
  }

  // Python has seen everything up to data.number: the next state may go out.
  answered(component, data) {
    this.sendValue = component.setStateValue;
    if (this.waiting && (data?.number ?? 0) >= this.sent) this.proceed();
    this.paint(); // the theme may have changed
  }

  listen() {
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [
        ((event.clientX - box.left) / box.width) * FINE,
        ((event.clientY - box.top) / box.height) * FINE,
      ];
    };
    this.canvas.onpointerdown = (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      this.canvas.focus({ preventScroll: true });
      this.canvas.setPointerCapture(event.pointerId);
      this.cursor = null;
      this.begin(at(event));
    };
    this.canvas.onpointermove = (event) => {
      if (!this.stroke || this.cursor) return;
      const moves = event.getCoalescedEvents?.() ?? [];
      for (const move of moves.length ? moves : [event]) this.extend(at(move));
      this.touched();
    };
    this.canvas.onpointerup = this.canvas.onpointercancel = () => {
      if (!this.cursor) this.end();
    };
    this.canvas.onkeydown = (event) => this.key(event);
    this.canvas.onblur = () => {
      if (this.cursor) this.end();
      this.cursor = null;
      this.paint();
    };
    this.clearButton.onclick = () => this.clear();
    this.undoButton.onclick = () => this.undo();
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
      event.key
    ];
    if (step) {
      this.cursor ??= [SIDE / 2, SIDE / 2];
      this.cursor = this.cursor.map((value, axis) =>
        Math.min(SIDE - 1.5, Math.max(1.5, value + step[axis])),
      );
      if (this.stroke) this.extend(this.cursor.map((value) => value * (FINE / SIDE)));
    } else if (event.key === " " || event.key === "Enter") {
      this.cursor ??= [SIDE / 2, SIDE / 2];
      if (this.stroke) this.end();
      else this.begin(this.cursor.map((value) => value * (FINE / SIDE)));
    } else if (event.key === "Backspace") this.undo();
    else if (event.key === "Delete") this.clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (this.stroke) this.touched();
    else this.paint();
    if (this.cursor) {
      const [column, row] = this.cursor.map(Math.round);
      this.spoken.textContent = `${this.stroke ? "Pen down" : "Pen up"}, column ${column}, row ${row}`;
    }
  }

  begin(point) {
    this.stroke = [point];
    this.strokes.push(this.stroke);
    this.touched();
  }

  extend(point) {
    const [x, y] = this.stroke.at(-1);
    if (Math.hypot(point[0] - x, point[1] - y) >= 1) this.stroke.push(point);
  }

  end() {
    if (!this.stroke) return;
    this.stroke = null;
    this.touched();
  }

  undo() {
    this.stroke = null;
    if (this.strokes.length) this.strokes.pop();
    else this.base = null;
    this.touched();
  }

  clear() {
    this.stroke = null;
    this.strokes = [];
    this.base = null;
    this.touched();
    this.spoken.textContent = "Cleared";
  }

  touched() {
    this.redraw();
    this.changed = true;
    this.send();
  }

  // At most one state is on its way at any time: the next one waits for the answer to the last,
  // so a slow server is never flooded and the newest state always arrives.
  send() {
    if (this.pending || this.waiting) return;
    this.pending = setTimeout(() => {
      this.pending = null;
      this.changed = false;
      this.waiting = true;
      this.sent += 1;
      this.sendValue("drawing", { number: this.sent, pixels: this.pixels() });
      this.impatience = setTimeout(() => this.proceed(), IMPATIENT);
    }, PAUSE);
  }

  proceed() {
    clearTimeout(this.impatience);
    this.waiting = false;
    if (this.changed) this.send();
  }

  redraw() {
    const { fine } = this;
    fine.clearRect(0, 0, FINE, FINE);
    if (this.base) fine.drawImage(picture(this.base), 0, 0, FINE, FINE);
    fine.lineCap = fine.lineJoin = "round";
    fine.lineWidth = PEN;
    for (const stroke of this.strokes) {
      fine.beginPath();
      fine.moveTo(...stroke[0]);
      // Curves through the midpoints: fast strokes stay round instead of showing corners.
      for (let i = 1; i < stroke.length - 1; i++) {
        const [x, y] = stroke[i];
        fine.quadraticCurveTo(x, y, (x + stroke[i + 1][0]) / 2, (y + stroke[i + 1][1]) / 2);
      }
      fine.lineTo(...stroke.at(-1));
      fine.stroke();
    }
    const empty = !this.base && !this.strokes.length;
    this.sheet.classList.toggle("inked", !empty);
    this.clearButton.disabled = this.undoButton.disabled = empty;
    this.paint();
  }

  paint() {
    const box = this.sheet.getBoundingClientRect();
    if (!box.width) return;
    const size = Math.round(box.width * (window.devicePixelRatio || 1));
    if (this.canvas.width !== size) this.canvas.width = this.canvas.height = size;
    const style = getComputedStyle(this.sheet);
    const view = this.canvas.getContext("2d");
    view.clearRect(0, 0, size, size);
    view.fillStyle = style.getPropertyValue("--st-border-color");
    view.globalAlpha = 0.35;
    for (let i = 1; i < SIDE; i++) {
      const at = Math.round((i * size) / SIDE);
      view.fillRect(at, 0, 1, size);
      view.fillRect(0, at, size, 1);
    }
    view.globalAlpha = 1;
    view.imageSmoothingQuality = "high";
    this.tint(view, size, style.getPropertyValue("--st-text-color"));
    if (this.cursor) {
      const [x, y] = this.cursor.map((value) => (value * size) / SIDE);
      view.strokeStyle = style.getPropertyValue("--st-primary-color");
      view.lineWidth = Math.max(2, size / 150);
      view.beginPath();
      view.arc(x, y, (size * PEN) / FINE / 2, 0, 2 * Math.PI);
      view.stroke();
      if (this.stroke) {
        view.fillStyle = view.strokeStyle;
        view.fill();
      }
    }
  }

  // Ink takes the theme's text colour; the fine canvas itself only knows how much ink there is.
  tint(view, size, colour) {
    const ink = new OffscreenCanvas(FINE, FINE).getContext("2d");
    ink.drawImage(this.fine.canvas, 0, 0);
    ink.globalCompositeOperation = "source-in";
    ink.fillStyle = colour;
    ink.fillRect(0, 0, FINE, FINE);
    view.drawImage(ink.canvas, 0, 0, size, size);
  }

  pixels() {
    const block = FINE / SIDE;
    const alpha = this.fine.getImageData(0, 0, FINE, FINE).data;
    const values = new Array(SIDE * SIDE).fill(0);
    for (let y = 0; y < FINE; y++)
      for (let x = 0; x < FINE; x++)
        values[Math.floor(y / block) * SIDE + Math.floor(x / block)] += alpha[(y * FINE + x) * 4 + 3];
    return values.map((sum) => Math.round(sum / (block * block)));
  }
}

function picture(values) {
  const small = new OffscreenCanvas(SIDE, SIDE).getContext("2d");
  const image = small.createImageData(SIDE, SIDE);
  values.forEach((value, i) => (image.data[i * 4 + 3] = value));
  small.putImageData(image, 0, 0);
  return small.canvas;
}
