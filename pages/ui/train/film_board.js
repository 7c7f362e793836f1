// One matrix of a film (film.js) on its canvas: shades, axes, zoom, and the words under the pointer.

const GLOW = 400; // milliseconds for which a flipped connection shows
const EDGE = { left: 56, right: 10, top: 28, bottom: 52 };
const ENDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]; // of a scale of differences

class Board extends Sheet {
  constructor(...where) {
    super(...where);
    this.frames = [];
    this.flips = []; // { where, when } of connections that still glow, oldest first
    const { canvas, film } = this;
    canvas.onpointermove = (event) => this.drag(event);
    canvas.onpointerdown = (event) => {
      this.grip = film.area[2] < 1 ? [event.offsetX, event.offsetY, ...film.area] : null;
      if (this.grip) canvas.setPointerCapture(event.pointerId);
      this.hover([event.offsetX, event.offsetY]);
    };
    canvas.onpointerup = canvas.onpointercancel = () => (this.grip = null);
    canvas.ondblclick = () => film.zoom(0.001);
    canvas.onkeydown = (event) => this.key(event);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  describe(about, another) {
    const changed = about.shades !== this.about?.shades;
    this.about = about;
    this.canvas.setAttribute("aria-label", about.alt);
    if (another) Object.assign(this, { frames: [], levels: null, flips: [] });
    if (!changed) return;
    const table = (hex) => hex.match(/.{6}/g).map(rgb);
    [this.colours, this.changeColours] = [table(about.shades), table(about.change_shades)];
    this.plain = Uint32Array.from(this.colours, opaque);
    this.changePlain = Uint32Array.from(this.changeColours, opaque);
  }

  append(changes, n, news) {
    const { low, high } = this.about;
    let before = null;
    news.forEach((isNew, i) => {
      const levels = changes.slice(i * n, (i + 1) * n);
      if (before) for (let k = 0; k < n; k++) levels[k] += before[k]; // modulo 256
      if (isNew) this.frames.push({ levels, low, high });
      before = levels;
    });
  }

  turnTo(index, from, now) {
    const [next, before] = [this.frames[index], this.frames[from]];
    this.levels = next?.levels;
    this.frame = next;
    if (!before || !this.about.flash || before.high !== next.high) this.flips = [];
    else {
      const where = new Uint32Array(next.levels.length);
      let n = 0;
      for (let k = 0; k < where.length; k++) {
        if (next.levels[k] !== before.levels[k]) where[n++] = k;
      }
      if (n) this.flips.push({ where: where.slice(0, n), when: now });
    }
  }

  glows(now) {
    this.flips = this.flips.filter(({ when }) => now - when < GLOW);
    return this.flips.length > 0;
  }

  // ---- drawing
  draw(all) {
    if (!this.about || !this.host.clientWidth) return;
    const [width, height, resized] = this.fit();
    all ||= resized;
    const { view } = this;
    const { ink } = this.film.about;
    view.fillStyle = ink.paper;
    if (all || !this.levels) view.fillRect(0, 0, width, height);
    else view.fillRect(width - 112, 0, 112, 24); // only the moment
    const { left, top, across, down } = (this.area = this.plotArea(width, height));
    if (all || !this.levels) {
      this.text(this.about.title, left, 12, { colour: ink.text, font: "600 14px" });
    }
    if (this.levels) {
      const { text } = this.film.moments[this.film.at] ?? {};
      this.text(text ?? "", width - 34, 12, { align: "right" });
      this.paint();
      if (all) {
        this.axes(height);
        this.colourBar(width, height);
      }
      if (this.pointer) this.hover(this.pointer);
    } else {
      this.waits(this.area);
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

  // The part of the matrix that is shown, in its own rows and columns.
  window() {
    const { shape } = this.about;
    const [row, column, rows, columns] = this.film.area;
    return [row * shape[0], column * shape[1], rows * shape[0], columns * shape[1]];
  }

  get changes() {
    return this.film.difference.checked && this.frames.length > 1;
  }

  valueOf({ levels, low, high }, k) {
    return low + (levels[k] / (this.colours.length - 1)) * (high - low);
  }

  change(k) {
    return this.valueOf(this.frame, k) - this.valueOf(this.frames[0], k);
  }

  shades(pixels) {
    const { levels } = this;
    if (!this.changes) {
      const { plain } = this;
      for (let k = 0; k < pixels.length; k++) pixels[k] = plain[levels[k]];
      this.glow(pixels);
      return;
    }
    let largest = 0;
    for (let k = 0; k < pixels.length; k++) largest = Math.max(largest, Math.abs(this.change(k)));
    this.changeEnd = ENDS.find((end) => largest <= end + 1e-6) ?? 2;
    const [plain, middle] = [this.changePlain, (this.changePlain.length - 1) / 2];
    for (let k = 0; k < pixels.length; k++) {
      pixels[k] = plain[Math.round(middle * (1 + this.change(k) / this.changeEnd))];
    }
  }

  glow(pixels) {
    if (!this.flips.length) return;
    const [now, light] = [performance.now(), rgb(this.about.flash.slice(1))];
    for (const { where, when } of this.flips) {
      const fresh = Math.max(0, 1 - (now - when) / GLOW);
      const lit = Uint32Array.from(this.colours, (colour) =>
        opaque(colour.map((part, i) => part + fresh * (light[i] - part))),
      );
      for (let i = 0; i < where.length; i++) pixels[where[i]] = lit[this.levels[where[i]]];
    }
  }

  paint() {
    const { size, blocks, borders } = this.about;
    if (this.pixels?.width !== size[1] || this.pixels?.height !== size[0]) {
      this.pixels = new ImageData(size[1], size[0]);
      this.picture = new OffscreenCanvas(size[1], size[0]);
    }
    this.shades(new Uint32Array(this.pixels.data.buffer));
    this.picture.getContext("2d").putImageData(this.pixels, 0, 0);
    const { view } = this;
    const { left, top, across, down } = this.area;
    const [row, column, rows, columns] = this.window();
    const [h, w] = [rows / blocks[0], columns / blocks[1]];
    // Single entries stay sharp, but none may be left out.
    view.imageSmoothingEnabled = across * devicePixelRatio < w || down * devicePixelRatio < h;
    view.drawImage(this.picture, column / blocks[1], row / blocks[0], w, h, left, top, across, down);
    view.fillStyle = this.film.about.ink.muted;
    for (const at of borders) {
      const share = (at - row) / rows;
      if (share > 0 && share < 1) view.fillRect(left, top + down * share, across, 0.5);
    }
  }

  axes(height) {
    const { rows, columns } = this.about;
    const { ink } = this.film.about;
    const { left, top, across, down } = this.area;
    const [row, column, high, wide] = this.window();
    for (const at of ticks(row, high, down)) {
      this.text(at, left - 6, top + (down * (at + 0.5 - row)) / high, { align: "right" });
    }
    for (const at of ticks(column, wide, across)) {
      const x = left + (across * (at + 0.5 - column)) / wide;
      this.text(at, x, top + down + 11, { align: "center" });
    }
    this.text(columns, left, height - 14, { colour: ink.text, font: "13px" });
    this.upwards(rows, 12, top + down / 2);
  }

  colourBar(width, height) {
    const { changes } = this;
    const { low, high } = changes ? { low: -this.changeEnd, high: this.changeEnd } : this.frame;
    const colours = changes ? this.changeColours : this.colours;
    const unit = changes ? "change" : this.about.unit;
    const [wide, y] = [60, height - 19];
    const right = width - EDGE.right - 26;
    for (let x = 0; x < wide; x++) {
      this.view.fillStyle = `rgb(${colours[Math.round((x / (wide - 1)) * (colours.length - 1))]})`;
      this.view.fillRect(right - wide + x, y, 1, 9);
    }
    this.text(signed(high), right + 4, y + 5);
    this.text(`${unit}  ${signed(low)}`, right - wide - 4, y + 5, { align: "right" });
  }

  // ---- for the visitor
  wheel(event) {
    if (!event.ctrlKey) return; // the page scrolls as everywhere
    event.preventDefault();
    this.film.zoom(1.2 ** -Math.sign(event.deltaY), this.shareAt([event.offsetX, event.offsetY]));
  }

  key(event) {
    const [row, column, rows, columns] = this.film.area;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "+") this.film.zoom(1.6);
    else if (event.key === "-") this.film.zoom(1 / 1.6);
    else if (event.key === "0") this.film.zoom(0.001);
    else if (step[event.key] && rows < 1) {
      const [down, right] = step[event.key];
      this.film.pan(row + (down * rows) / 5, column + (right * columns) / 5);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drag({ offsetX, offsetY, buttons }) {
    if (this.grip && buttons) {
      const [x, y, row, column, rows, columns] = this.grip;
      const { across, down } = this.area;
      this.film.pan(row - ((offsetY - y) / down) * rows, column - ((offsetX - x) / across) * columns);
    }
    this.hover([offsetX, offsetY]);
  }

  shareAt([x, y]) {
    const { left, top, across, down } = this.area;
    return [(y - top) / down, (x - left) / across];
  }

  hover(pointer) {
    this.pointer = pointer;
    const at = pointer && this.area && this.shareAt(pointer);
    const words = this.levels && at?.every((part) => part >= 0 && part < 1) ? this.wordsAt(at) : "";
    this.say(words);
  }

  wordsAt(shares) {
    const { shape, size, blocks, unit, rows, columns, names } = this.about;
    const area = this.window();
    const [row, column] = shares.map((share, i) =>
      Math.floor((area[i] + share * area[i + 2]) / blocks[i]),
    );
    const [line, input] = [row, column].map((at, i) => {
      const [from, to] = [at * blocks[i], Math.min((at + 1) * blocks[i], shape[i]) - 1];
      const [what, known] = i ? [columns, names] : [rows, []];
      const parts = known.length ? [...new Set([known[from], known[to]])].join(" … ") : "";
      const where = to > from ? `${what}s ${from} to ${to}` : `${what} ${from}`;
      return parts ? `${where}: ${parts}` : where;
    });
    const at = row * size[1] + column;
    if (this.changes) return [line, input, `change ${signed(this.change(at).toFixed(2))}`].join("\n");
    const value = this.valueOf(this.frame, at);
    const single = blocks[0] * blocks[1] === 1;
    let said = `${single ? unit.replace("mean ", "") : unit} ${signed(value.toFixed(2))}`;
    if (this.about.square) said = `used by ${Math.round(value)} cells`;
    else if (single && this.frame.low === 0) said = this.levels[at] ? "connected" : "not connected";
    return [line, input, said].join("\n");
  }
}

function rgb(hex) {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function opaque([r, g, b]) {
  return (255 << 24) | (b << 16) | (g << 8) | r;
}
