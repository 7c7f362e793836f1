// The circuit: glomeruli, Kenyon cells, answers. Draws what Python sends; a click picks a cell.
// Signals travel along the wires it draws; several pictures play by themselves, one after another.

const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // sunflower order fills a disc evenly with any number
const NARROW = 620;
const LOWEST = 190; // height of the disc, however low the window is
const SVG = "http://www.w3.org/2000/svg";
const drawings = new WeakMap();

export default function (component) {
  const { parentElement, data } = component;
  if (!drawings.has(parentElement)) drawings.set(parentElement, new Drawing(parentElement));
  const drawing = drawings.get(parentElement);
  drawing.pick = (cell) => component.setTriggerValue("picked", cell);
  drawing.show(data);
  return () => {
    if (!parentElement.isConnected) drawing.end();
  };
}

class Drawing {
  constructor(root) {
    this.host = root.querySelector(".circuit");
    this.svg = make("svg", { role: "img" }, this.host);
    this.host.insertBefore(this.svg, this.host.firstChild);
    this.tip = this.host.querySelector(".tip");
    this.signals = new Signals(this.host.querySelector("canvas"), this.host);
    this.button = this.host.querySelector("button");
    this.button.onclick = () => this.rest(!this.resting);
    this.svg.onpointermove = (event) => this.hover(event);
    this.svg.onpointerleave = () => this.tip.classList.remove("shown");
    this.svg.onclick = ({ target }) => {
      if (target.dataset?.cell !== undefined) this.pick(Number(target.dataset.cell));
    };
    this.watcher = new ResizeObserver(() => {
      const width = Math.round(this.host.clientWidth);
      if (this.data && width && Math.abs(width - this.width) > 1) this.rebuild();
    });
    this.watcher.observe(this.host);
    this.resized = () => this.data?.around && this.rebuild();
    window.addEventListener("resize", this.resized);
  }

  end() {
    this.watcher.disconnect();
    this.signals.end();
    clearTimeout(this.timer);
    window.removeEventListener("resize", this.resized);
  }

  // One picture, or a film: several, each with what differs from the one before it.
  show({ film, ...data }) {
    if (film && film.name === this.film?.name) return; // it plays on while the page is drawn anew
    this.film = film;
    clearTimeout(this.timer);
    this.host.classList.toggle("living", Boolean(film));
    this.button.hidden = !film || STILL.matches;
    if (!film) return this.picture(data);
    this.pictures = [];
    for (const frame of JSON.parse(film.frames)) this.pictures.push((data = { ...data, ...frame }));
    this.at = STILL.matches ? this.pictures.length - 1 : 0;
    this.play();
  }

  play() {
    clearTimeout(this.timer);
    if (!this.host.isConnected) return this.end();
    if (this.signals.seen || !this.data) {
      this.picture(this.pictures[this.at]);
      this.at = (this.at + 1) % this.pictures.length;
    }
    if (!STILL.matches && !this.resting)
      this.timer = setTimeout(() => this.play(), 1000 * this.film.seconds);
  }

  rest(resting) {
    this.resting = this.signals.resting = resting;
    this.button.textContent = resting ? "Play" : "Pause";
    clearTimeout(this.timer);
    if (!resting) this.play();
  }

  picture(data) {
    const shape = (d) =>
      d && [d.inputs.values.length, d.cells.values.length, d.answers.length, d.inputs.shape].join();
    const rebuild = shape(data) !== shape(this.data) || !this.width;
    const turned = data.step !== this.data?.step || Boolean(this.film);
    this.data = data;
    this.scale = data.large ? 1.4 : 1;
    this.host.style.setProperty("--scale", this.scale);
    for (const name in data.colours) this.host.style.setProperty(`--${name}`, data.colours[name]);
    this.svg.setAttribute("aria-label", data.label);
    if (rebuild) this.rebuild();
    else this.update();
    if (turned) this.signals.leave();
  }

  rebuild() {
    this.width = Math.round(this.host.clientWidth);
    if (!this.width) return;
    const narrow = this.width < NARROW;
    this.host.classList.toggle("narrow", narrow);
    const place = narrow ? this.narrow() : this.wide();
    this.place = place;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${place.height}`);
    this.svg.style.height = `${place.height}px`;
    this.svg.replaceChildren();
    this.titles(place);
    this.buildInputs(place.inputs);
    this.wires = make("g", {}, this.svg);
    this.buildCells(place.cells);
    this.over = make("g", {}, this.svg);
    this.buildAnswers(place.answers);
    this.signals.resize(this.width, place.height);
    this.update();
  }

  wide() {
    // As large as the window leaves room for, beside what the page says stands around it.
    const room = this.data.around ? Math.max(LOWEST, window.innerHeight - this.data.around) : 400;
    const disc = Math.min(400, this.width * 0.36, room);
    const block = Math.min(300, this.width * 0.27, disc);
    const list = Math.min(250 * this.scale, this.width * 0.27);
    const top = 52 * this.scale - 6;
    const middle = top + disc / 2;
    const gap = (this.width - disc - block - list) / 2;
    return {
      height: disc + top + 10,
      inputs: { x: 0, y: middle - block / 2, size: block, title: 14 * this.scale },
      cells: { x: block + gap + disc / 2, y: middle, radius: disc / 2, title: 14 * this.scale },
      answers: {
        ...this.list(block + 2 * gap + disc, middle, list, Math.min(27 * this.scale, disc / 10)),
        title: 14 * this.scale,
      },
    };
  }

  narrow() {
    const block = this.width * 0.4;
    const disc = this.width * 0.5;
    const top = 46;
    const row = 21;
    const list = this.data.answers.length * row;
    const below = top + disc + 44;
    return {
      height: below + list + 30,
      inputs: { x: 0, y: top + (disc - block) / 2, size: block, title: 12 },
      cells: { x: this.width - disc / 2, y: top + disc / 2, radius: disc / 2, title: 12 },
      answers: { ...this.list(0, below + 24 + list / 2, this.width * 0.74, row), below: true },
    };
  }

  list(x, middle, width, row) {
    const height = row * this.data.answers.length;
    return { x, y: middle - height / 2, width, row, title: middle - height / 2 - 26 };
  }

  titles(place) {
    this.subtitles = {};
    for (const [part, x] of [
      ["inputs", place.inputs.x],
      ["cells", place.cells.x - place.cells.radius],
      ["answers", place.answers.x],
    ]) {
      const y = place[part].title;
      make("text", { x, y, class: "title" }, this.svg, this.data.titles[part][0]);
      this.subtitles[part] = make("text", { x, y: y + 16 * this.scale, class: "subtitle" }, this.svg);
    }
  }

  buildInputs({ x, y, size }) {
    const { values, shape } = this.data.inputs;
    make("rect", { x, y, width: size, height: size, rx: 6, class: "frame" }, this.svg);
    const group = make("g", {}, this.svg);
    const columns = shape ? shape[1] : Math.ceil(Math.sqrt(values.length));
    const rows = shape ? shape[0] : Math.ceil(values.length / columns);
    const margin = size * 0.03;
    const pitch = (size - 2 * margin) / Math.max(columns, rows);
    const left = x + (size - pitch * columns) / 2;
    const top = y + (size - pitch * rows) / 2;
    this.inputAt = (i) => [
      left + ((i % columns) + 0.5) * pitch,
      top + (Math.floor(i / columns) + 0.5) * pitch,
    ];
    this.pitch = pitch;
    this.lit = null;
    this.inputs = values.map((_, i) => {
      const [cx, cy] = this.inputAt(i);
      return make("circle", { cx, cy, r: pitch * 0.42, class: "input", "data-input": i }, group);
    });
    (this.data.inputs.short ?? []).forEach((name, i) => {
      const [x, y] = this.inputAt(i);
      make("text", { x, y: y + pitch * 0.1, class: "short", "font-size": pitch * 0.27 }, group, name);
    });
  }

  buildCells({ x, y, radius }) {
    const n = this.data.cells.values.length;
    make("circle", { cx: x, cy: y, r: radius, class: "lobe" }, this.svg);
    this.cellGroup = make("g", {}, this.svg);
    const inside = radius - 4;
    this.dot = Math.min(9, 0.8 * inside * Math.sqrt(1 / n));
    this.cellAt = (j) => {
      const far = (inside - this.dot) * Math.sqrt((j + 0.5) / n);
      return [x + far * Math.cos(j * GOLDEN), y + far * Math.sin(j * GOLDEN)];
    };
    this.cells = this.data.cells.values.map((_, j) => {
      const [cx, cy] = this.cellAt(j);
      const kind = this.data.cells.kinds?.[j]; // its own colour, faint while it rests
      const style = kind ? `--hot: ${kind}; --faint: 38%` : "";
      const about = { cx, cy, r: this.dot, class: "cell", "data-cell": j, style };
      return make("circle", about, this.cellGroup);
    });
  }

  buildAnswers({ x, y, width, row, below }) {
    this.answerGroup = make("g", {}, this.svg);
    const longest = Math.max(...this.data.answers.map((answer) => answer.name.length));
    const label = Math.min(width * 0.5, 10 + 7.2 * this.scale * longest);
    const track = width - label - 46 * this.scale;
    this.track = track;
    this.answerAt = (k) => [below ? x + width + 6 : x, y + row * (k + 0.5)];
    this.answers = this.data.answers.map((_, k) => {
      const group = make("g", { class: "answer" }, this.answerGroup);
      const middle = y + row * (k + 0.5);
      const name = make("text", { x: x + 8, y: middle + 4 * this.scale }, group);
      const bar = { x: x + label, y: middle - row * 0.27, height: row * 0.54, rx: 3 };
      make("rect", { ...bar, width: track, class: "track" }, group);
      const filled = make("rect", { ...bar, width: 0, class: "bar" }, group);
      const value = make(
        "text",
        { x: x + width, y: middle + 4 * this.scale, class: "value", "text-anchor": "end" },
        group,
      );
      return { group, name, filled, value };
    });
  }

  update() {
    const { inputs, cells, answers, step, titles } = this.data;
    for (const part in this.subtitles) this.subtitles[part].textContent = titles[part][1];
    if (this.lit !== inputs) // in a film most pictures have the inputs of the one before
      inputs.values.forEach((value, i) => {
        this.inputs[i].style.setProperty("--v", value / 100);
        this.inputs[i].classList.toggle("unknown", Boolean(inputs.unknown?.includes(i)));
      });
    this.lit = inputs;
    cells.values.forEach((value, j) => {
      const dot = this.cells[j];
      dot.style.setProperty("--v", Math.abs(value) / 100);
      dot.classList.toggle("below", value < 0);
      dot.classList.toggle("chosen", j === this.data.chosen.cell);
      const size = step === "input" || step === "wiring" ? 0.8 : 0.62 + 0.38 * Math.abs(value / 100);
      dot.style.r = `${(this.dot * size).toFixed(2)}px`;
    });
    this.cellGroup.classList.toggle("asleep", step === "input");
    this.answerGroup.classList.toggle("waiting", step !== "votes" && step !== "answer");
    answers.forEach((answer, k) => {
      const row = this.answers[k];
      row.name.textContent = answer.name;
      row.filled.style.width = `${(this.track * answer.probability) / 100}px`;
      row.value.textContent = `${answer.probability}%`;
      row.group.classList.toggle("winner", answer.winner);
    });
    this.drawWires();
  }

  drawWires() {
    this.wires.replaceChildren();
    this.over.replaceChildren();
    const { chosen, others, votes, step } = this.data;
    const { cells } = this.place;
    this.signals.clear();
    if (step === "input") {
      const loud = this.data.inputs.values.flatMap((value, i) => (value > 60 ? [this.inputAt(i)] : []));
      this.signals.flash(loud, 1.6 * this.pitch);
      return;
    }
    if (step === "inhibition") this.signals.flash([[cells.x, cells.y]], cells.radius, "cold");
    if (step === "relu") {
      const loud = this.data.cells.values.flatMap((value, j) => (value > 40 ? [this.cellAt(j)] : []));
      this.signals.flash(loud, 3 * this.dot);
    }
    if (step === "wiring" || step === "sum")
      for (const { cell, inputs } of others)
        for (const i of inputs) {
          const ends = [this.inputAt(i), this.cellAt(cell)];
          if (step === "wiring") this.wire(...ends, "faint", 0.8, 0.16);
          else this.signals.along(this.bend(...ends), "hot", this.data.inputs.values[i] / 150);
        }
    if (step === "votes" || step === "answer")
      for (const [cell, answer, weight] of votes) {
        const strength = Math.abs(weight) / 100;
        const kind = weight < 0 ? "against" : "for";
        const width = 0.6 + 1.6 * strength;
        this.wire(this.cellAt(cell), this.answerAt(answer), kind, width, 0.15 + 0.6 * strength);
      }
    else
      for (const i of chosen.inputs) {
        const rate = this.data.inputs.values[i] / 100;
        this.wire(this.inputAt(i), this.cellAt(chosen.cell), "for", 1.6, 0.4 + 0.6 * rate, this.over);
        const [cx, cy] = this.inputAt(i);
        make("circle", { cx, cy, r: Math.max(4, this.pitch * 0.6), class: "socket" }, this.over);
      }
  }

  wire(from, to, kind, width, opacity, layer = this.wires) {
    const points = this.bend(from, to);
    const [start, one, other, end] = points.map((point) => point.join());
    const d = `M${start} C${one} ${other} ${end}`;
    make("path", { d, class: `wire ${kind}`, "stroke-width": width, opacity }, layer);
    this.signals.along(points, kind === "against" ? "cold" : "hot", kind === "faint" ? 0.3 : opacity);
  }

  // A wire's ends and the two points that bend it.
  bend([x1, y1], [x2, y2]) {
    const bottom = this.place.cells.y + this.place.cells.radius;
    const bend = (x2 - x1) * 0.45;
    // Below one another, the wires reach the list through the gutter on its right.
    const gutter = this.width * 0.9;
    return this.place.answers.below && y2 > bottom
      ? [[x1, y1], [gutter, bottom], [gutter, y2], [x2, y2]]
      : [[x1, y1], [x1 + bend, y1], [x2 - bend, y2], [x2, y2]];
  }

  hover(event) {
    const { input, cell } = event.target.dataset ?? {};
    const text =
      input !== undefined
        ? `${this.inputName(Number(input))}: rate ${(this.data.inputs.values[input] / 100).toFixed(2)}`
        : cell !== undefined
          ? `Kenyon cell ${Number(cell) + 1}: ${this.data.cells.numbers[cell]}`
          : null;
    this.tip.classList.toggle("shown", text !== null);
    if (text === null) return;
    this.tip.textContent = text;
    const box = this.host.getBoundingClientRect();
    const x = event.clientX - box.left;
    this.tip.style.left = `${Math.min(x + 14, box.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${event.clientY - box.top + 16}px`;
  }

  inputName(i) {
    const { shape, names } = this.data.inputs;
    if (!shape) return names[i];
    return `Pixel in row ${Math.floor(i / shape[1]) + 1}, column ${(i % shape[1]) + 1}`;
  }
}
