// Signals in the circuit; stands before circuit_view.js.

const TRAVEL = 1.3, REST = 1.9; // seconds that signals take, and until the next ones leave
const FRAMES_A_SECOND = 16;
const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");

// What travels: dots along wires and rings around what fires, on a canvas of its own above the
// drawing. It is drawn only while it moves and can be seen, and never for those who prefer less.
class Signals {
  constructor(canvas, host) {
    this.canvas = canvas;
    this.host = host;
    this.clear();
    this.seen = true;
    this.watcher = new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      if (this.seen) this.leave();
    });
    this.watcher.observe(host);
  }

  end() {
    this.watcher.disconnect();
    clearTimeout(this.timer);
    this.clear();
  }

  clear() {
    this.paths = [];
    this.rings = [];
  }

  along(points, colour, strength) {
    this.paths.push({ points, colour, strength: Math.min(1, strength) });
  }

  flash(places, radius, colour = "hot") {
    const every = Math.ceil(places.length / 60);
    for (let k = 0; k < places.length; k += every) this.rings.push({ at: places[k], radius, colour });
  }

  resize(width, height) {
    const dense = Math.min(2, window.devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [width * dense, height * dense];
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.dense = dense;
  }

  leave() {
    clearTimeout(this.timer);
    this.began = performance.now();
    const style = getComputedStyle(this.host);
    this.colours = { hot: style.getPropertyValue("--hot"), cold: style.getPropertyValue("--cold") };
    if (!STILL.matches) this.draw();
  }

  draw() {
    clearTimeout(this.timer);
    const view = this.canvas.getContext("2d");
    const time = (performance.now() - this.began) / 1000 / TRAVEL;
    view.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    view.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.host.isConnected || !this.seen || STILL.matches || this.resting) return;
    if (time >= 1) {
      const living = this.host.classList.contains("living");
      if (!living) this.timer = setTimeout(() => this.leave(), 1000 * REST);
      return;
    }
    const { colours } = this;
    for (const { points, colour, strength } of this.paths) {
      const [x, y] = between(points, time);
      view.globalAlpha = strength * Math.sin(Math.PI * time) ** 0.5;
      view.fillStyle = colours[colour];
      view.beginPath();
      view.arc(x, y, 2 + 2 * strength, 0, 7);
      view.fill();
    }
    view.lineWidth = 2;
    for (const { at, radius, colour } of this.rings) {
      view.globalAlpha = 0.8 * (1 - time);
      view.strokeStyle = colours[colour];
      view.beginPath();
      view.arc(...at, radius * time, 0, 7);
      view.stroke();
    }
    this.timer = setTimeout(() => requestAnimationFrame(() => this.draw()), 1000 / FRAMES_A_SECOND);
  }
}

// A point of a cubic curve.
function between([a, b, c, d], t) {
  const u = 1 - t;
  return [0, 1].map(
    (k) => u ** 3 * a[k] + 3 * u * u * t * b[k] + 3 * u * t * t * c[k] + t ** 3 * d[k],
  );
}

// One SVG element, perhaps with text, at the end of its parent.
function make(name, attributes, parent, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  parent.append(element);
  return element;
}
