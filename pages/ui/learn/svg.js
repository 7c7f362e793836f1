// Makes one SVG element, perhaps with text, at the end of its parent.

const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, parent = null, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent?.append(element);
  return element;
}
