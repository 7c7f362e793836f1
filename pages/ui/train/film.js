// A run's numbers, S and W (or W and its use of pixels) and curves, in places that stay from before
// the first frame to after the last. Frames come in batches (kcnet_core/figures/live/film.py) and are
// played evenly until the next batch is due; numbers and curves go with them. They are kept, so that
// everything seen can be played again or held.

const PAINT = 66; // between two paintings: what changes faster is not seen, but paid for
const REPLAY = 120; // between two frames when they are played again
const CLOCK = 200; // between two readings of the run's clock
const MOST_KEPT = 64; // frames; of more, every second of the older ones goes
const still = matchMedia("(prefers-reduced-motion: reduce)");
const films = new WeakMap();

export default function ({ parentElement, data }) {
  let film = films.get(parentElement);
  if (!film?.place.isConnected) films.set(parentElement, (film = new Film(parentElement)));
  film.receive(data);
  return () => {
    if (!parentElement.isConnected) film.close();
  };
}

class Film {
  constructor(root) {
    const find = (name) => root.querySelector(name);
    [this.place, this.lower, this.numbers] = [".boards", ".lower", ".numbers"].map(find);
    this.template = find("template");
    this.transport = find(".transport");
    this.slider = find("[type=range]");
    this.label = find("output");
    this.playButton = find(".play");
    this.difference = find(".change");
    [this.boards, this.charts] = [[], []];
    this.turned = 0; // when another frame was shown last
    this.area = [0, 0, 1, 1]; // what is zoomed to: first row and column, rows and columns, as parts
    this.slider.oninput = () => this.hold(Number(this.slider.value));
    this.playButton.onclick = () => this.play();
    this.difference.onchange = () => this.paint(true);
    find(".in").onclick = () => this.zoom(1.6);
    find(".out").onclick = () => this.zoom(1 / 1.6);
    this.watcher = new ResizeObserver(() => this.paint(true));
    this.watcher.observe(this.place);
  }

  close() {
    this.watcher.disconnect();
    clearTimeout(this.timer);
  }

  async receive(data) {
    if (same(data, this.data)) return; // the page was drawn again, and nothing is new
    this.data = data;
    const bytes = await inflated(data);
    const line = bytes.indexOf(10);
    const about = JSON.parse(new TextDecoder().decode(bytes.subarray(0, line)));
    const before = this.about;
    // Calls that waited for this very script to be loaded come in any order.
    if (before?.film === about.film && about.order <= before.order) return;
    this.about = about;
    this.heard = performance.now();
    this.ensurePlaces(about, !before || about.film !== before.film);
    if (about.moments.length) this.load(bytes.subarray(line + 1), about);
    this.paint(true);
    this.tick();
  }

  // The same canvases as long as the same things are shown.
  ensurePlaces({ boards, charts }, another) {
    const titles = (all) => all.map((one) => one.title).join();
    const places = `${titles(boards)} | ${titles(charts)}`;
    if (places !== this.places) {
      this.places = places;
      for (const place of [this.place, this.lower]) place.replaceChildren();
      this.boards = boards.map(() => new Board(this, this.place));
      this.charts = charts.map((_, i) => new Chart(this, i ? this.lower : this.place));
    }
    this.boards.forEach((board, i) => board.describe(boards[i], another));
    this.charts.forEach((chart, i) => chart.describe(charts[i]));
    if (another) Object.assign(this, { moments: [], at: -1, mode: "follow", area: [0, 0, 1, 1] });
  }

  // The last epoch of which curves tell: who follows the run and has caught up sees all of it.
  get shown() {
    const last = this.moments.length - 1;
    return this.mode === "follow" && this.at >= last ? Infinity : this.moments[this.at]?.epoch ?? -1;
  }

  load(changes, { boards, moments, whole, seconds, begins }) {
    const fresh = whole || !this.moments.length;
    if (whole) for (const board of this.boards) board.frames = [];
    const shown = this.moments[this.at]?.epoch ?? -1;
    if (whole) this.moments = [];
    // The newest frame comes once more when all else about the run is new.
    const known = this.moments.at(-1)?.made;
    const news = moments.map(({ made }) => !(made <= known));
    let start = 0;
    boards.forEach(({ size }, i) => {
      const n = size[0] * size[1];
      this.boards[i].append(changes.subarray(start, start + n * moments.length), n, news);
      start += n * moments.length;
    });
    this.moments.push(...moments.filter((_, i) => news[i]));
    this.thin();
    const last = this.moments.length - 1;
    // Who opens a run that goes on, or has ended, begins with where it stands.
    const jump = this.mode === "follow" && (still.matches || (fresh && !begins));
    if (jump) this.turnTo(last);
    else if (fresh && begins) this.turnTo(0);
    else if (whole) this.turnTo(this.indexOf(shown));
    this.slot = (1000 * seconds) / Math.max(1, last - this.at);
    this.due = Math.max(performance.now(), this.turned + this.slot); // at once, if it had run dry
  }

  thin() {
    while (this.moments.length > MOST_KEPT) {
      const keep = (_, i) => i === 0 || i % 2 === 0 || i > MOST_KEPT / 2;
      const shown = this.moments[Math.max(0, this.at)];
      this.moments = this.moments.filter(keep);
      for (const board of this.boards) board.frames = board.frames.filter(keep);
      this.at = this.indexOf(shown?.epoch ?? 0);
    }
  }

  // The last moment of an epoch, or of the one before it.
  indexOf(epoch) {
    return Math.max(0, this.moments.findLastIndex((moment) => moment.epoch <= epoch));
  }

  // ---- time
  tick() {
    clearTimeout(this.timer);
    const now = performance.now();
    const last = (this.moments?.length ?? 0) - 1;
    const slot = this.mode === "play" ? REPLAY : this.slot;
    const moves = this.mode !== "held" && this.at < last;
    if (moves && now >= this.due) {
      const steps = Math.max(1, Math.floor((now - this.due) / slot) + 1);
      this.turnTo(Math.min(last, this.at + steps));
      this.due = Math.max(now, this.due + steps * slot);
    }
    if (this.mode === "play" && this.at >= last) {
      this.mode = "follow";
      this.showTransport();
    }
    const glows = this.boards.some((board) => board.glows(now));
    if (glows || this.stale) this.paint(false);
    this.stale = glows; // once more after it has ended
    this.showNumbers();
    const plays = this.mode !== "held" && this.at < last;
    const { runs } = this.about.now;
    const wait = glows ? PAINT : Math.min(plays ? this.due - now : CLOCK, runs ? CLOCK : Infinity);
    if (glows || plays || runs) this.timer = setTimeout(() => this.tick(), Math.max(PAINT, wait));
  }

  turnTo(index) {
    const now = (this.turned = performance.now());
    const onward = index > this.at && !still.matches && this.at >= 0;
    for (const board of this.boards) board.turnTo(index, onward ? this.at : -1, now);
    this.at = index;
    this.stale = true;
    this.showTransport();
  }

  hold(index) {
    this.mode = index === this.moments.length - 1 ? "follow" : "held";
    this.turnTo(index);
    this.paint(false);
    this.tick();
  }

  play() {
    if (this.mode === "play") this.mode = "held";
    else {
      this.mode = "play";
      if (this.at >= this.moments.length - 1) this.turnTo(0);
      this.due = performance.now() + REPLAY;
    }
    this.showTransport();
    this.tick();
  }

  showTransport() {
    const n = this.moments.length;
    const moment = this.moments[this.at];
    const [measured] = Object.values(moment?.numbers ?? {});
    const text = [moment?.text, measured].filter(Boolean).join(" · ");
    this.transport.classList.toggle("still", n < 2);
    Object.assign(this.slider, { max: Math.max(0, n - 1), value: Math.max(0, this.at) });
    this.slider.setAttribute("aria-valuetext", text);
    this.label.textContent = text;
    const playing = this.mode === "play";
    this.playButton.textContent = playing ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", playing ? "Pause playback" : "Play again");
  }

  showNumbers() {
    const { numbers, ended } = this.about.now;
    const then = ended || this.shown === Infinity ? {} : this.moments[this.at]?.numbers ?? {};
    const rows = this.numbers.children;
    while (rows.length > numbers.length) rows[rows.length - 1].remove();
    while (rows.length < numbers.length) {
      const row = document.createElement("div");
      row.append(document.createElement("dt"), document.createElement("dd"));
      this.numbers.append(row);
    }
    numbers.forEach(([name, value, more], i) => {
      const [term, number] = rows[i].children;
      const said = [name, then[name] || value || this.clock()];
      [term, number].forEach((place, k) => {
        if (place.textContent !== said[k]) place.textContent = said[k];
      });
      rows[i].title = more;
    });
  }

  clock() {
    const { seconds, runs } = this.about.now;
    const since = runs ? (performance.now() - this.heard) / 1000 : 0;
    return seconds === null ? "" : `${(seconds + since).toFixed(1)} s`;
  }

  // ---- zoom
  zoom(factor, centre = [0.5, 0.5]) {
    const [row, column, rows, columns] = this.area;
    const [high, wide] = [rows, columns].map((part) => Math.min(1, Math.max(0.02, part / factor)));
    this.pan(row + centre[0] * (rows - high), column + centre[1] * (columns - wide), high, wide);
  }

  pan(row, column, rows = this.area[2], columns = this.area[3]) {
    const inside = (at, part) => Math.min(1 - part, Math.max(0, at));
    this.area = [inside(row, rows), inside(column, columns), rows, columns];
    for (const { canvas } of this.boards) canvas.classList.toggle("zoomed", rows < 1);
    this.paint(true);
  }

  paint(all) {
    for (const sheet of [...this.boards, ...this.charts]) sheet.draw(all);
  }
}

function same(one, other) {
  return one.length === other?.length && one.every((byte, i) => byte === other[i]);
}

async function inflated(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
