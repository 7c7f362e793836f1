// One canvas of the live view (film.js): its size, its words, the tip under the pointer, its PNG.

class Sheet {
  constructor(film, place) {
    this.film = film;
    this.host = film.template.content.cloneNode(true).firstElementChild;
    place.append(this.host);
    [this.canvas, this.tip] = ["canvas", ".tip"].map((name) => this.host.querySelector(name));
    this.canvas.onpointermove = (event) => this.hover([event.offsetX, event.offsetY]);
    this.canvas.onpointerleave = () => this.hover(null);
    this.host.querySelector(".save").onclick = () => this.save();
  }

  // Makes the canvas as large as its place: [width, height, whether it was another size before].
  fit() {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    const [wide, high] = [width, height].map((side) => Math.round(side * devicePixelRatio));
    const { canvas } = this;
    const another = canvas.width !== wide || canvas.height !== high;
    if (another) Object.assign(canvas, { width: wide, height: high });
    this.view = canvas.getContext("2d");
    this.view.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    return [width, height, another];
  }

  text(words, x, y, { colour = this.film.about.ink.muted, font = "12px", align = "left" } = {}) {
    const { view } = this;
    this.family ??= getComputedStyle(this.host).fontFamily;
    view.font = `${font} ${this.family}`;
    Object.assign(view, { fillStyle: colour, textAlign: align, textBaseline: "middle" });
    view.fillText(words, x, y);
  }

  upwards(words, x, y) {
    this.view.save();
    this.view.translate(x, y);
    this.view.rotate(-Math.PI / 2);
    this.text(words, 0, 0, { colour: this.film.about.ink.text, font: "13px", align: "center" });
    this.view.restore();
  }

  waits({ left, top, across, down }) {
    const middle = [left + across / 2, top + down / 2];
    this.text("Waiting for the first numbers", ...middle, { align: "center" });
  }

  // `words` beside the pointer, inside of the canvas; without any the tip goes.
  say(words) {
    this.tip.style.visibility = words ? "visible" : "hidden";
    if (!words) return;
    this.tip.textContent = words;
    const { offsetWidth, offsetHeight } = this.tip;
    const x = Math.min(this.pointer[0] + 12, this.host.clientWidth - offsetWidth);
    const below = this.pointer[1] + 16;
    const fits = below + offsetHeight <= this.host.clientHeight;
    const y = fits ? below : this.pointer[1] - 8 - offsetHeight;
    this.tip.style.transform = `translate(${Math.max(0, Math.round(x))}px,${Math.round(y)}px)`;
  }

  save() {
    this.draw(true);
    this.canvas.toBlob((picture) => {
      const href = URL.createObjectURL(picture);
      const download = `kcnet-${this.about.title}.png`;
      Object.assign(document.createElement("a"), { href, download }).click();
      setTimeout(() => URL.revokeObjectURL(href), 10_000);
    });
  }
}

// Round numbers from `first`, about one for every so many pixels, no closer than `least`.
function ticks(first, n, pixels, each = 50, least = 1) {
  const rough = n / Math.max(2, pixels / each);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, [1, 2, 5, 10].find((k) => rough <= k * power * 1.0001) * power);
  const start = Math.ceil(first / step - 1e-6);
  const many = Math.max(0, Math.floor((first + n) / step + 1e-6) - start + 1);
  return Array.from({ length: many }, (_, k) => Number(((start + k) * step).toPrecision(9)));
}

function signed(number) {
  return String(number).replace("-", "−");
}
