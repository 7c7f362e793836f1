// Lines and bars of a run (film.js), as far as the moment that is shown.

const INSIDE = { left: 50, right: 46, top: 28, bottom: 44 };

class Chart extends Sheet {
  describe(about) {
    this.about = about;
    this.canvas.setAttribute("aria-label", about.alt);
  }

  // What a series has of the moment shown: its points up to there, or those of that very moment.
  known(series) {
    const { of_moment } = this.about;
    const now = of_moment && this.film.moments?.[this.film.at]?.[of_moment];
    if (now) return { ...series, y: now.slice(series.first, series.first + series.x.length) };
    const { shown } = this.film;
    let n = series.x.length;
    if (!of_moment) while (n && series.x[n - 1] > shown) n--;
    return { ...series, n };
  }

  draw(all) {
    const { film, about } = this;
    if (!about) return;
    const drawn = `${film.at} ${film.shown} ${film.mode}`;
    if (!all && drawn === this.drawn) return;
    const [width, height] = this.fit();
    if (!width) return;
    this.drawn = drawn;
    const { view } = this;
    const { left, right, top, bottom } = INSIDE;
    const area = { left, top, across: Math.max(20, width - left - right), down: height - top - bottom };
    this.area = area;
    const { x, y } = about;
    this.x = (value) => left + (area.across * (value - x.min)) / (x.max - x.min);
    this.y = (value) => top + area.down * (1 - (value - y.min) / (y.max - y.min));
    view.fillStyle = film.about.ink.paper;
    view.fillRect(0, 0, width, height);
    this.axes(height);
    const series = about.series.map((one) => this.known(one));
    if (about.level) this.level(about.level);
    for (const one of series) about.bar ? this.bars(one) : this.line(one);
    if (film.mode !== "follow" && !about.of_moment) this.upright(film.shown);
    this.legend(series);
    if (!about.series.some((one) => one.x.length) || !(film.moments?.length > 0)) this.waits(area);
    if (this.pointer) this.hover(this.pointer);
  }

  axes(height) {
    const { x, y, title, bar } = this.about;
    const { ink } = this.film.about;
    const { left, top, across, down } = this.area;
    this.view.fillStyle = ink.grid;
    for (const at of ticks(y.min, y.max - y.min, down, 45, 0)) {
      this.view.fillStyle = ink.grid;
      this.view.fillRect(left, Math.round(this.y(at)), across, 1);
      // Down means off: there are no fewer than none.
      this.text(short(bar ? Math.abs(at) : at), left - 6, this.y(at), { align: "right" });
    }
    for (const at of ticks(x.min, x.max - x.min, across, 50, this.about.of_moment ? 0 : 1)) {
      this.text(signed(at), this.x(at), top + down + 11, { align: "center" });
    }
    const name = { colour: ink.text, font: "13px", align: "center" };
    this.text(x.name, left + across / 2, height - 12, name);
    this.upwards(title, 10, top + down / 2);
  }

  line({ x, y, n, colour, width, dash, end, ring }) {
    const { view } = this;
    const path = (from, to) => {
      view.beginPath();
      for (let k = from; k < to; k++) view.lineTo(this.x(x[k]), this.y(y[k]));
      view.stroke();
    };
    view.save();
    Object.assign(view, { strokeStyle: colour, lineWidth: width, lineJoin: "round" });
    view.setLineDash(dash);
    path(0, n);
    if (this.film.mode !== "follow") {
      view.globalAlpha = 0.25; // what came after the moment that is looked at
      path(Math.max(0, n - 1), x.length);
    }
    view.restore();
    if (!n || end === null) return;
    this.dot(this.x(x[n - 1]), this.y(y[n - 1]), colour, 3.5);
    const words = y[n - 1].toFixed(end);
    this.text(words, this.x(x[n - 1]) + 7, this.y(y[n - 1]), { colour, font: "13px" });
    if (!ring) return;
    let best = 0;
    for (let k = 1; k < n; k++) if (y[k] > y[best]) best = k;
    this.dot(this.x(x[best]), this.y(y[best]), colour, 6.5, true);
  }

  dot(x, y, colour, radius, open = false) {
    const { view } = this;
    view.beginPath();
    view.arc(x, y, radius, 0, 2 * Math.PI);
    Object.assign(view, { fillStyle: colour, strokeStyle: colour, lineWidth: 2 });
    open ? view.stroke() : view.fill();
  }

  bars({ x, y, n = x.length, colour }) {
    const { view } = this;
    const wide = this.x(this.about.bar) - this.x(0);
    const [broad, zero] = [Math.max(1, wide * (wide > 4 ? 0.85 : 1)), this.y(0)];
    for (let k = 0; k < x.length; k++) {
      if (k >= n && this.film.mode === "follow") break;
      view.globalAlpha = k < n ? 1 : 0.25;
      view.fillStyle = colour;
      view.fillRect(this.x(x[k]) - broad / 2, zero, broad, this.y(y[k]) - zero);
    }
    view.globalAlpha = 1;
  }

  level({ at, text, place }) {
    const { left, across } = this.area;
    const { view } = this;
    view.save();
    Object.assign(view, { strokeStyle: this.film.about.ink.muted, lineWidth: 1 });
    view.setLineDash([4, 4]);
    view.strokeRect(left, this.y(at), across, 0);
    view.restore();
    const side = place.includes("Start") ? "left" : "right";
    const x = side === "left" ? left + 5 : left + across - 5;
    this.text(text, x, this.y(at) + (place.endsWith("Top") ? -9 : 10), { align: side });
  }

  upright(at) {
    this.view.fillStyle = this.film.about.ink.muted;
    this.view.fillRect(Math.round(this.x(at)), this.area.top, 1, this.area.down);
  }

  legend(series) {
    let x = this.area.left;
    for (const { named, name, colour, dash, x: points, ring } of series) {
      if (!named || !points.length || series.length < 2) continue;
      const { view } = this;
      view.save();
      Object.assign(view, { strokeStyle: colour, lineWidth: this.about.bar ? 9 : 2.5 });
      view.setLineDash(dash ?? []);
      view.strokeRect(x, 12, this.about.bar ? 6 : 16, 0);
      view.restore();
      for (const words of [name, ...(ring ? [ring] : [])]) {
        if (words === ring) this.dot(x + 8, 12, colour, 4.5, true);
        this.text(words, x + 22, 12);
        x += 34 + view.measureText(words).width;
      }
    }
  }

  hover(pointer) {
    this.pointer = pointer;
    const { area } = this;
    const share = pointer && area && (pointer[0] - area.left) / area.across;
    const inside = pointer && share >= 0 && share <= 1 && pointer[1] > area.top;
    this.say(inside && pointer[1] < area.top + area.down ? this.wordsAt(share) : "");
  }

  wordsAt(share) {
    const { x, unit, digits, bar, of_moment } = this.about;
    const wanted = x.min + share * (x.max - x.min);
    const found = [];
    for (const { listed, name, x: at, y, n = at.length } of this.about.series.map((one) => this.known(one))) {
      let near = 0;
      for (let k = 1; k < n; k++) if (Math.abs(at[k] - wanted) < Math.abs(at[near] - wanted)) near = k;
      const misses = of_moment && Math.abs(at[near] - wanted) > bar;
      if (!n || !listed || misses) continue;
      const value = (bar ? Math.abs(y[near]) : y[near]).toFixed(digits);
      found.push([at[near], `${name} ${bar ? Number(value).toLocaleString("en") : value}${unit}`]);
    }
    if (!found.length) return "";
    const where = of_moment ? `score ${signed(found[0][0])}` : `epoch ${found[0][0]}`;
    return [where, ...found.map(([, words]) => words)].join("\n");
  }
}

// A number on an axis, in few letters.
function short(number) {
  if (Math.abs(number) < 10_000) return signed(number);
  return `${signed(Number((number / 1000).toPrecision(3)))}k`;
}
