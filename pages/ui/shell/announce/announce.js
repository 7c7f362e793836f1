// Words that are only heard. A region speaks of what changes in it, so one that is new waits a moment.

export default function ({ parentElement, data }) {
  const region = parentElement.querySelector("[role=status]");
  const timer = setTimeout(() => {
    if (region.textContent !== data) region.textContent = data;
  }, 150);
  return () => clearTimeout(timer);
}
