// A link that can be copied; where the browser forbids that, it is selected to be copied by hand.

export default function ({ parentElement, data }) {
  const field = parentElement.querySelector("input");
  const said = parentElement.querySelector("span");
  if (field.value !== data.address) {
    field.value = data.address;
    said.textContent = "";
  }
  parentElement.querySelector("button").onclick = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "Selected: copy it with Ctrl+C or ⌘C.";
    }
  };
}
