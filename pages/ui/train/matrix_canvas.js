// One matrix on one canvas, which stays from before the first frame to after the last. Frames come
// in batches (kcnet_core/figures/live.py) and are played evenly until the next one is due.

const GLOW = 400; // milliseconds for which a flipped connection shows
const EDGE = { left: 60, right: 12, top: 28, bottom: 52 };
const still = matchMedia("(prefers-reduced-motion: reduce)");
const boards = new WeakMap();

export default function ({ parentElement, data }) {
  if (!boards.has(parentElement)) boards.set(parentElement, new Board(parentElement));
  const board = boards.get(parentElement);
  board.receive(data);
  return () => {
    if (!parentElement.isConnected) board.watcher.disconnect();
  };
}

class Board {
  constructor(root) {
    const find = (name) => root.querySelector(name);
    [this.host, this.canvas, this.tip] = [".matrix", "canvas", ".tip"].map(find);
    this.received = this.movesUntil = 0;
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.host);
    const point = ({ offsetX, offsetY }) => this.hover([offsetX, offsetY]);
    this.canvas.onpointermove = this.canvas.onpointerdown = point;
    this.canvas.onpointerleave = () => this.hover(null);
    find("button").onclick = () => this.save();
  }

  async receive(data) {
    const turn = ++this.received;
    const bytes = await inflated(data);
    if (turn < this.received) return; // a later one was quicker
    const line = bytes.indexOf(10);
    const before = this.about ?? {};
    const about = (this.about = JSON.parse(new TextDecoder().decode(bytes.subarray(0, line))));
    this.canvas.setAttribute("aria-label", about.alt);
    if (!about.moments.length) this.levels = null;
    else if (about.made !== before.made || about.shades !== before.shades) {
      this.load(bytes.subarray(line + 1), about, before);
    }
    this.drawn = false;
    this.tick();
  }

  load(changes, { size, shades, low, high, moments }, before) {
    const n = size[0] * size[1];
    this.frames = moments.map((_, i) => changes.subarray(i * n, (i + 1) * n));
    this.frames.forEach((frame, i) => {
      if (i) for (let k = 0; k < n; k++) frame[k] += this.frames[i - 1][k]; // modulo 256
    });
    // What was shown before can be compared with these only if it means the same.
    const same = this.levels?.length === n && before.low === low && before.high === high;
    if (!same) this.levels = null;
    if (this.flipped?.length !== n) this.flipped = new Float64Array(n).fill(-GLOW);
    this.colours = shades.match(/.{6}/g).map(rgb);
    this.pixels = new ImageData(size[1], size[0]);
    this.picture = new OffscreenCanvas(size[1], size[0]);
    this.index = -1;
    this.started = performance.now();
  }

  // ---- time
  tick() {
    cancelAnimationFrame(this.timer);
    const now = performance.now();
    const { moments, seconds } = this.about;
    const slot = (1000 * seconds) / moments.length;
    const last = moments.length - 1;
    const due = still.matches ? last : Math.min(last, Math.floor((now - this.started) / slot));
    if (last >= 0 && due !== this.index) this.turnTo(due, now, slot);
    if (!this.drawn) this.draw(now);
    this.drawn = now >= this.movesUntil; // what glows or glides is drawn until that has ended
    if (due < last || !this.drawn) this.timer = requestAnimationFrame(() => this.tick());
  }

  // Connections flip at once and glow for a moment; scores glide to their next value.
  turnTo(index, now, slot) {
    const [before, next] = [still.matches ? null : this.levels, this.frames[index]];
    const glide = this.about.flash ? 0 : slot;
    if (before && !glide) {
      for (let k = 0; k < next.length; k++) if (next[k] !== before[k]) this.flipped[k] = now;
    }
    if (before) this.movesUntil = now + (glide || GLOW);
    Object.assign(this, { before, glide, turned: now, levels: next, index, drawn: false });
  }

  // ---- drawing
  draw(now = performance.now()) {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (!this.about || !width) return;
    const [wide, high] = [width, height].map((side) => Math.round(side * devicePixelRatio));
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      Object.assign(this.canvas, { width: wide, height: high });
    }
    const view = (this.view = this.canvas.getContext("2d"));
    view.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const { ink, title, moments } = this.about;
    view.fillStyle = ink.paper;
    view.fillRect(0, 0, width, height);
    const { left, top, across, down } = (this.area = this.plotArea(width, height));
    this.text(title, EDGE.left, 12, { colour: ink.text, font: "600 14px" });
    if (this.levels) {
      this.text(moments[this.index], width - 34, 12, { align: "right" });
      this.paint(now);
      this.axes(height);
      this.colourBar(width, height);
      this.hover(this.pointer);
    } else {
      const middle = [left + across / 2, top + down / 2];
      this.text("Waiting for the first numbers", ...middle, { align: "center" });
    }
    view.strokeStyle = ink.grid;
    view.strokeRect(left - 0.5, top - 0.5, across + 1, down + 1);
  }

  plotArea(width, height) {
    const { left, right, top, bottom } = EDGE;
    let [across, down] = [Math.max(20, width - left - right), height - top - bottom];
    if (this.about.square && this.levels) {
      const [rows, columns] = this.about.shape;
      const unit = Math.min(across / columns, down / rows);
      [across, down] = [Math.round(unit * columns), Math.round(unit * rows)];
    }
    return { left, top, across, down };
  }

  paint(now) {
    const { shape, size, blocks, borders, flash, ink } = this.about;
    const bytes = new Uint32Array(this.pixels.data.buffer);
    const opaque = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;
    const plain = Uint32Array.from(this.colours, opaque);
    const moving = this.before && now < this.movesUntil;
    const glow = moving && flash && rgb(flash.slice(1));
    const behind = moving && !flash ? 1 - (now - this.turned) / this.glide : 0;
    for (let k = 0; k < bytes.length; k++) {
      const level = this.levels[k];
      bytes[k] = plain[behind ? Math.round(level + behind * (this.before[k] - level)) : level];
      const fresh = glow ? 1 - (now - this.flipped[k]) / GLOW : 0;
      if (fresh <= 0) continue;
      const colour = this.colours[level];
      bytes[k] = opaque(colour.map((part, i) => part + fresh * (glow[i] - part)));
    }
    this.picture.getContext("2d").putImageData(this.pixels, 0, 0);
    const { view } = this;
    const { left, top, across, down } = this.area;
    // The last block may reach over the edge. Single entries stay sharp, but none may be left out.
    const [h, w] = [down, across].map((side, i) => (side * size[i] * blocks[i]) / shape[i]);
    view.imageSmoothingEnabled = w * devicePixelRatio < size[1] || h * devicePixelRatio < size[0];
    view.save();
    view.beginPath();
    view.rect(left, top, across, down);
    view.clip();
    view.drawImage(this.picture, left, top, w, h);
    view.restore();
    view.fillStyle = ink.muted;
    for (const at of borders) view.fillRect(left, top + (down * at) / shape[0], across, 0.5);
  }

  text(words, x, y, { colour = this.about.ink.muted, font = "12px", align = "left" } = {}) {
    const { view } = this;
    view.font = `${font} ${getComputedStyle(this.host).fontFamily}`;
    Object.assign(view, { fillStyle: colour, textAlign: align, textBaseline: "middle" });
    view.fillText(words, x, y);
  }

  axes(height) {
    const { shape, rows, columns, ink } = this.about;
    const { left, top, across, down } = this.area;
    for (const at of ticks(shape[0], down)) {
      this.text(at, left - 6, top + (down * (at + 0.5)) / shape[0], { align: "right" });
    }
    for (const at of ticks(shape[1], across)) {
      this.text(at, left + (across * (at + 0.5)) / shape[1], top + down + 11, { align: "center" });
    }
    this.text(columns, left, height - 14, { colour: ink.text, font: "13px" });
    this.view.save();
    this.view.translate(12, top + down / 2);
    this.view.rotate(-Math.PI / 2);
    this.text(rows, 0, 0, { colour: ink.text, font: "13px", align: "center" });
    this.view.restore();
  }

  colourBar(width, height) {
    const { low, high, unit } = this.about;
    const [wide, y] = [70, height - 19];
    const right = width - EDGE.right - 26;
    for (let x = 0; x < wide; x++) {
      const at = Math.round((x / (wide - 1)) * (this.colours.length - 1));
      this.view.fillStyle = `rgb(${this.colours[at]})`;
      this.view.fillRect(right - wide + x, y, 1, 9);
    }
    this.text(signed(high), right + 4, y + 5);
    this.text(`${unit}  ${signed(low)}`, right - wide - 4, y + 5, { align: "right" });
  }

  // ---- for the visitor
  hover(pointer) {
    this.pointer = pointer;
    const { left, top, across, down } = this.area ?? {};
    const at = pointer && [(pointer[1] - top) / down, (pointer[0] - left) / across];
    const words = this.levels && at?.every((part) => part >= 0 && part < 1) ? this.wordsAt(at) : "";
    this.tip.style.visibility = words ? "visible" : "hidden";
    if (!words) return;
    this.tip.textContent = words;
    const { offsetWidth, offsetHeight } = this.tip;
    const x = Math.min(pointer[0] + 12, this.host.clientWidth - offsetWidth);
    const below = pointer[1] + 16;
    const fits = below + offsetHeight <= this.host.clientHeight;
    const y = fits ? below : pointer[1] - 8 - offsetHeight;
    this.tip.style.transform = `translate(${Math.max(0, Math.round(x))}px,${Math.round(y)}px)`;
  }

  wordsAt(shares) {
    const { shape, size, blocks, low, high, unit, rows, columns, names } = this.about;
    const [row, column] = shares.map((share, i) => Math.floor((share * shape[i]) / blocks[i]));
    const [line, input] = [row, column].map((at, i) => {
      const [from, to] = [at * blocks[i], Math.min((at + 1) * blocks[i], shape[i]) - 1];
      const [what, known] = i ? [columns, names] : [rows, []];
      const parts = known.length ? [...new Set([known[from], known[to]])].join(" … ") : "";
      const where = to > from ? `${what}s ${from} to ${to}` : `${what} ${from}`;
      return parts ? `${where}: ${parts}` : where;
    });
    const level = this.levels[row * size[1] + column];
    const value = low + (level / (this.colours.length - 1)) * (high - low);
    const single = blocks[0] * blocks[1] === 1;
    let said = `${single ? unit.replace("mean ", "") : unit} ${signed(value.toFixed(2))}`;
    if (this.about.square) said = `used by ${Math.round(value)} cells`;
    else if (single && low === 0) said = level ? "connected" : "not connected";
    return [line, input, said].join("\n");
  }

  save() {
    this.canvas.toBlob((picture) => {
      const href = URL.createObjectURL(picture);
      const download = `kcnet-${this.about.title}.png`;
      Object.assign(document.createElement("a"), { href, download }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10_000);
    });
  }
}

async function inflated(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function rgb(hex) {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// Round numbers below n, about one for every fifty pixels.
function ticks(n, pixels) {
  const rough = n / Math.max(2, pixels / 50);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((k) => rough <= k * power) * power);
  return Array.from({ length: Math.ceil(n / step) }, (_, k) => k * step);
}

function signed(number) {
  return String(number).replace("-", "−");
}
