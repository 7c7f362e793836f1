// One chart: a figure in plotly's words, drawn into an SVG and a canvas that stay where they are.

const DASHES = { dot: "3 3", dash: "9 6", dashdot: "9 4 3 4", longdash: "14 6" };
const ANCHORS = { left: "start", center: "middle", right: "end" };
const BASELINES = { top: 0.85, middle: 0.35, bottom: -0.25 }; // of the letters' height

function place(parent, name, className) {
  const element = document.createElement(name);
  element.className = className;
  parent.append(element);
  return element;
}

class Chart {
  constructor(cell) {
    this.cell = cell;
    this.canvas = place(cell, "canvas", "");
    this.canvas.hidden = true;
    this.svg = make("svg", { "aria-hidden": "true" }, cell);
    this.marks = make("g");
    this.tip = place(cell, "div", "tip");
    cell.onpointermove = cell.onpointerdown = (event) => {
      const box = cell.getBoundingClientRect();
      this.pointer = [event.clientX - box.left, event.clientY - box.top];
      this.hover();
    };
    cell.onpointerleave = () => {
      this.pointer = null;
      this.hover();
    };
  }

  resized() {
    if (this.cell.clientWidth !== this.width || devicePixelRatio !== this.ratio) this.draw();
  }

  async show(figure) {
    if (!figure) return this.wait();
    const turn = (this.turns = (this.turns ?? 0) + 1);
    const source = figure.traces.find(({ type }) => type === "image")?.source;
    if (source && source !== this.picture?.src) {
      const picture = new Image();
      picture.src = source;
      await picture.decode(); // not on the page's own thread; what is there stays until then
      if (turn < this.shown) return; // a later one was quicker
      this.picture = picture;
    }
    this.shown = turn;
    this.figure = figure;
    this.waiting?.remove();
    this.cell.setAttribute("role", "img");
    this.cell.setAttribute("aria-label", figure.alt);
    this.draw();
  }

  wait() {
    if (this.cell.textContent) return;
    this.waiting = place(this.cell, "div", "waiting");
    this.waiting.textContent = "Waiting for the first numbers";
  }

  // ---- drawing: everything anew into the same elements, which takes a millisecond or two
  draw() {
    if (!this.figure || !this.cell.clientWidth) return;
    const { layout, traces } = this.figure;
    this.width = this.cell.clientWidth;
    this.height = this.cell.clientHeight;
    this.ratio = devicePixelRatio;
    this.area = this.plotArea(layout);
    const group = make("g");
    this.axis(layout.xaxis, "x", group);
    this.axis(layout.yaxis, "y", group);
    for (const shape of layout.shapes ?? []) this.shape(shape, group);
    this.legend(traces, layout, group);
    const clip = `clip-${this.cell.dataset.key}`;
    const { left, top, right, bottom } = this.area;
    const box = { x: left, y: top - 4, width: right - left + 4, height: bottom - top + 8 };
    make("rect", box, make("clipPath", { id: clip }, group));
    const inside = make("g", { "clip-path": `url(#${clip})` }, group);
    for (const trace of traces) {
      if (trace.type === "bar") this.bars(trace, layout, inside);
      if (trace.type === "scatter" && trace.line) this.line(trace, inside);
      if (trace.type === "scatter" && trace.mode?.includes("text")) this.lastValue(trace, group);
      const scale = trace.marker?.colorbar ? trace.marker : trace.colorbar ? trace : null;
      if (scale) this.colourBar(scale, group);
    }
    for (const note of layout.annotations ?? []) this.note(note, group);
    this.title(layout, group);
    this.paint(traces);
    group.append(this.marks);
    this.svg.replaceChildren(group);
    this.hover();
  }

  plotArea({ margin, xaxis, yaxis }) {
    const area = {
      left: margin.l,
      top: margin.t,
      right: Math.max(margin.l + 20, this.width - margin.r),
      bottom: this.height - margin.b,
    };
    if (yaxis.scaleanchor) {
      // Square pixels: as large as fits, in the middle.
      const [across, down] = [xaxis, yaxis].map(({ range }) => Math.abs(range[1] - range[0]));
      const [width, height] = [area.right - area.left, area.bottom - area.top];
      const unit = Math.min(width / across, height / down);
      const [x, y] = [(width - unit * across) / 2, (height - unit * down) / 2];
      Object.assign(area, { left: area.left + x, right: area.right - x });
      Object.assign(area, { top: area.top + y, bottom: area.bottom - y });
    }
    for (const side in area) area[side] = Math.round(area[side]);
    const { left, right, top, bottom } = area;
    const [x0, x1] = xaxis.range;
    const [y0, y1] = yaxis.range;
    this.x = (value) => left + ((value - x0) / (x1 - x0)) * (right - left);
    this.y = (value) => bottom - ((value - y0) / (y1 - y0)) * (bottom - top);
    this.valueAt = ([px, py]) => [
      x0 + ((px - left) / (right - left)) * (x1 - x0),
      y0 + ((bottom - py) / (bottom - top)) * (y1 - y0),
    ];
    return area;
  }

  axis(axis, which, parent) {
    const { left, right, top, bottom } = this.area;
    const across = which === "x";
    const line = { stroke: axis.linecolor, "stroke-width": 1 };
    const at = across ? (v) => Math.round(this.x(v)) + 0.5 : (v) => Math.round(this.y(v)) + 0.5;
    const stroke = (x1, y1, x2, y2, look) => make("line", { x1, y1, x2, y2, ...look }, parent);
    if (axis.showline && axis.mirror && across) {
      const box = { x: left - 0.5, y: top - 0.5, width: right - left + 1, height: bottom - top + 1 };
      make("rect", { ...box, fill: "none", ...line }, parent);
    } else if (axis.showline && across) stroke(left, bottom + 0.5, right, bottom + 0.5, line);
    const length = across ? right - left : bottom - top;
    const marks = axis.showticklabels === false ? [] : ticks(axis, length, across);
    for (const [value, label] of marks) {
      const p = at(value);
      const grid = value === 0 && axis.zeroline ? axis.zerolinecolor : axis.gridcolor;
      if (axis.showgrid || (value === 0 && axis.zeroline))
        if (across) stroke(p, top, p, bottom, { stroke: grid });
        else stroke(left, p, right, p, { stroke: grid });
      const out = axis.ticks === "outside" ? axis.ticklen : 0;
      if (out && across) stroke(p, bottom, p, bottom + out, { stroke: axis.color });
      else if (out) stroke(left - out, p, left, p, { stroke: axis.color });
      const spot = across ? [p, bottom + out + 5] : [left - out - 3, p];
      const look = { ...axis.tickfont, anchor: across ? "center" : "right" };
      this.text(label, ...spot, { ...look, vertical: across ? "top" : "middle" }, parent);
    }
    if (!axis.title?.text) return;
    const middle = across ? (left + right) / 2 : (top + bottom) / 2;
    const look = { ...axis.title.font, anchor: "center", vertical: "middle" };
    // At a fixed distance from the edge: it stays where it is when numbers grow a little longer.
    const aside = marks.some(([, label]) => label.length > 5) ? 9 : 21;
    if (across) this.text(axis.title.text, middle, this.height - 15, look, parent);
    else this.text(axis.title.text, aside, middle, { ...look, turn: -90 }, parent);
  }

  text(words, x, y, { color, size, weight, anchor = "left", vertical = "middle", turn }, parent) {
    const drop = BASELINES[vertical] * size;
    make("text", {
      fill: color,
      "font-size": size,
      "font-weight": weight ?? 400,
      "text-anchor": ANCHORS[anchor],
      transform: `translate(${x},${y})${turn ? ` rotate(${turn})` : ""} translate(0,${drop})`,
    }, parent, words); // prettier-ignore
  }

  title({ title }, parent) {
    if (title) this.text(title.text, this.area.left, 4, { ...title.font, vertical: "top" }, parent);
  }

  // Names beside samples of their lines, above the chart; in several lines where one is too short.
  legend(traces, { showlegend, legend }, parent) {
    if (!showlegend) return;
    const lines = [[]];
    let x = this.area.left;
    for (const trace of traces) {
      if (!trace.name || trace.showlegend === false) continue;
      const width = 46 + 6.2 * trace.name.length;
      if (x > this.area.left && x + width > this.width) {
        lines.push([]);
        x = this.area.left;
      }
      lines.at(-1).push([trace, x]);
      x += width;
    }
    lines.forEach((line, k) => {
      const y = this.area.top - 10 - 16 * (lines.length - 1 - k);
      for (const [trace, x] of line) {
        const box = { x: x + 14, y: y - 6, width: 12, height: 12, fill: trace.marker?.color };
        if (trace.type === "bar") make("rect", box, parent);
        else if (trace.mode === "markers") this.dot(x + 20, y, trace.marker, parent);
        else this.path(`M${x + 4},${y}h30`, trace.line, parent);
        this.text(trace.name, x + 40, y, legend.font, parent);
      }
    });
  }

  path(d, { color, width, dash }, parent) {
    const look = { fill: "none", stroke: color, "stroke-width": width, "stroke-linejoin": "round" };
    make("path", { d, ...look, "stroke-dasharray": DASHES[dash] ?? "none" }, parent);
  }

  dot(cx, cy, { size, color, line }, parent) {
    const edge = { stroke: line?.color ?? "none", "stroke-width": line?.width ?? 0 };
    make("circle", { cx, cy, r: size / 2, fill: color, ...edge }, parent);
  }

  line({ x, y, line, mode, marker }, parent) {
    if (mode === "markers" && x.length) {
      this.dot(this.x(x[0]), this.y(y[0]), marker, parent);
      return;
    }
    let d = "";
    let pen = "M";
    for (let i = 0; i < x.length; i++) {
      if (x[i] !== null) d += `${pen}${this.x(x[i]).toFixed(1)},${this.y(y[i]).toFixed(1)}`;
      pen = x[i] === null ? "M" : "L";
    }
    this.path(d || "M0,0", line, parent);
  }

  lastValue({ x, y, text, textfont, marker }, parent) {
    const [cx, cy] = [this.x(x[0]), this.y(y[0])];
    this.dot(cx, cy, marker, parent);
    this.text(text[0], cx + marker.size / 2, cy, textfont, parent);
  }

  bars({ x, y, width, marker }, { bargap }, parent) {
    const apart = x.length > 1 ? Math.min(...x.slice(1).map((value, i) => value - x[i])) : 1;
    const half = (width ?? apart * (1 - bargap)) / 2;
    const base = this.y(0).toFixed(1);
    const d = x.map((value, i) => {
      const [from, to] = [this.x(value - half), this.x(value + half)];
      return `M${from.toFixed(2)},${base}V${this.y(y[i]).toFixed(1)}H${to.toFixed(2)}V${base}Z`;
    });
    make("path", { d: d.join("") || "M0,0", fill: marker.color }, parent);
  }

  shape({ x0, x1, y0, y1, xref, yref, line }, parent) {
    const { left, right, top, bottom } = this.area;
    const across = (v) => (xref === "paper" ? left + v * (right - left) : this.x(v));
    const down = (v) => (yref === "paper" ? bottom - v * (bottom - top) : this.y(v));
    const d = `M${across(x0)},${down(y0)}L${across(x1)},${down(y1)}`;
    this.path(d, line, parent);
  }

  note({ text, font, x, y, xref, yref, xanchor, yanchor }, parent) {
    const { left, right, top, bottom } = this.area;
    const px = xref === "paper" ? left + x * (right - left) : this.x(x);
    const py = yref === "paper" ? bottom - y * (bottom - top) : this.y(y);
    const aside = { left: 4, right: -4 }[xanchor] ?? 0;
    const look = { ...font, anchor: xanchor, vertical: yanchor };
    this.text(text, px + aside, py + (yanchor === "top" ? 4 : 0), look, parent);
  }

  colourBar({ colorscale, colorbar, cmin, cmax, zmin, zmax }, parent) {
    const [low, high] = [cmin ?? zmin, cmax ?? zmax];
    const { right, left, top, bottom } = this.area;
    const x = Math.round(right + 0.02 * (right - left)) + 8;
    const id = `scale-${this.cell.dataset.key}`;
    const ramp = make("linearGradient", { id, x1: 0, y1: 1, x2: 0, y2: 0 }, parent);
    for (const [offset, colour] of colorscale)
      make("stop", { offset, "stop-color": colour }, ramp);
    const box = { x, y: top, width: colorbar.thickness, height: bottom - top };
    make("rect", { ...box, fill: `url(#${id})` }, parent);
    const axis = { range: [low, high], nticks: colorbar.nticks };
    for (const [value, label] of ticks(axis, bottom - top, false)) {
      const y = bottom - ((value - low) / (high - low)) * (bottom - top);
      this.text(label, x + box.width + 3, y, colorbar.tickfont, parent);
    }
    const { text, font } = colorbar.title;
    const look = { ...font, anchor: "center", turn: -90 };
    const beside = Math.min(x + box.width + 34, this.width - 8);
    if (text) this.text(text, beside, (top + bottom) / 2, look, parent);
  }

  // ---- pictures
  paint(traces) {
    const map = traces.find(({ type }) => type === "image" || type === "heatmap");
    if (!map) return;
    const { left, right, top, bottom } = this.area;
    const [width, height] = [right - left, bottom - top];
    for (const [side, value] of Object.entries({ left, top, width, height }))
      this.canvas.style[side] = `${value}px`;
    const pixels = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
    if (this.canvas.width !== pixels[0]) this.canvas.width = pixels[0];
    if (this.canvas.height !== pixels[1]) this.canvas.height = pixels[1];
    const view = this.canvas.getContext("2d");
    const picture = map.type === "image" ? this.picture : heatPicture(map);
    // A last block that is only partly filled reaches over the edge.
    const { xaxis, yaxis } = this.figure.layout;
    const spanned = (n, step, [a, b]) => (n * (step ?? 1)) / Math.abs(b - a);
    const w = pixels[0] * spanned(picture.width, map.dx, xaxis.range);
    const h = pixels[1] * spanned(picture.height, map.dy, yaxis.range);
    view.imageSmoothingEnabled = false;
    view.drawImage(picture, 0, 0, w, h);
    this.canvas.hidden = false;
  }

  // ---- hover
  hover() {
    this.marks.replaceChildren();
    const { left, right, top, bottom } = this.area ?? {};
    const [px, py] = this.pointer ?? [NaN, NaN];
    const inside = px >= left && px <= right && py >= top && py <= bottom;
    const words = inside && this.figure ? wordsAt(this, px, py) : "";
    this.tip.classList.toggle("shown", Boolean(words));
    if (!words) return;
    const { bgcolor, bordercolor, font } = this.figure.layout.hoverlabel;
    const look = { background: bgcolor, borderColor: bordercolor, color: font.color };
    Object.assign(this.tip.style, look);
    this.tip.textContent = words;
    const { offsetWidth, offsetHeight } = this.tip;
    const x = px + 12 + offsetWidth > this.width ? px - 12 - offsetWidth : px + 12;
    const y = Math.min(py + 12, this.height - offsetHeight);
    this.tip.style.transform = `translate(${Math.max(0, Math.round(x))}px,${Math.round(y)}px)`;
  }
}

function heatPicture({ z, zmin, zmax, colorscale }) {
  const picture = new OffscreenCanvas(z[0].length, z.length);
  const view = picture.getContext("2d");
  z.forEach((row, y) => row.forEach((value, x) => {
    const at = Math.min(1, Math.max(0, (value - zmin) / (zmax - zmin))) * (colorscale.length - 1);
    const k = Math.min(Math.floor(at), colorscale.length - 2);
    const [from, to] = [colorscale[k][1], colorscale[k + 1][1]];
    const byte = (colour, i) => parseInt(colour.slice(i, i + 2), 16);
    const part = (i) => byte(from, i) * (1 - at + k) + byte(to, i) * (at - k);
    view.fillStyle = `rgb(${[1, 3, 5].map((i) => Math.round(part(i))).join()})`;
    view.fillRect(x, y, 1, 1);
  })); // prettier-ignore
  return picture;
}

