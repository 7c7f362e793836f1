// The answer to a drawing: a bar per digit, and a map of what every pixel said. Changes in place,
// so that nothing flickers while one draws.

const views = new WeakMap();

export default function (component) {
  const { parentElement, data } = component;
  if (!views.has(parentElement)) views.set(parentElement, build(parentElement, data));
  update(parentElement, views.get(parentElement), data);
}

function build(root, data) {
  const bars = root.querySelector(".bars");
  return data.answers.map(({ name }) => {
    const label = document.createElement("b");
    const track = document.createElement("div");
    const bar = document.createElement("i");
    const value = document.createElement("b");
    label.textContent = name;
    track.className = "track";
    value.className = "value";
    track.append(bar);
    bars.append(label, track, value);
    return { label, bar, value };
  });
}

function update(root, rows, { answers, map, colours, labels }) {
  const host = root.querySelector(".answer");
  host.style.setProperty("--hot", colours.hot);
  host.style.setProperty("--scale", `linear-gradient(to right, ${colours.scale.join(", ")})`);
  root.querySelector(".bars").setAttribute("aria-label", labels.bars);
  answers.forEach(({ probability, winner }, k) => {
    const { label, bar, value } = rows[k];
    bar.style.width = `${probability}%`;
    value.textContent = `${probability}%`;
    for (const part of [label, bar, value]) part.classList.toggle("winner", winner);
  });
  paint(root.querySelector("canvas"), map, labels.map);
}

function paint(canvas, { shape, pixels }, label) {
  const [rows, columns] = shape;
  if (canvas.width !== columns) [canvas.width, canvas.height] = [columns, rows];
  canvas.setAttribute("aria-label", label);
  const view = canvas.getContext("2d");
  const image = view.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; i++) {
    for (let k = 0; k < 3; k++) image.data[4 * i + k] = pixels[3 * i + k];
    image.data[4 * i + 3] = 255;
  }
  view.putImageData(image, 0, 0);
}
