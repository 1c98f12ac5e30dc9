const WIDTH = 1200, LETTER = 6.6;
const told = document.getElementById("told");
const calls = [...document.querySelectorAll("#calls g")].map((g) => {
  const rect = g.querySelector("rect"), text = g.querySelector("text");
  const number = (name) => parseFloat(rect.getAttribute(name));
  return { g, rect, text, name: g.dataset.n, whole: g.querySelector("title").textContent, x: number("x"), y: number("y"), width: number("width") };
});
function fitting(name, width) {
  const letters = Math.max(0, Math.floor((width - 6) / LETTER));
  if (letters < 3) return "";
  return name.length <= letters ? name : "…" + name.slice(name.length - letters + 1);
}
// Makes one call as wide as the picture: its callers with it, what it calls in proportion, all else away.
function widen(to) {
  const end = to.x + to.width, slack = 0.01;
  for (const call of calls) {
    const above = call.y < to.y && call.x <= to.x + slack && call.x + call.width >= end - slack;
    const below = call.y >= to.y && call.x >= to.x - slack && call.x + call.width <= end + slack;
    call.g.style.display = above || below ? "" : "none";
    call.g.classList.toggle("caller", above);
    const x = above ? 0 : ((call.x - to.x) / to.width) * WIDTH;
    const width = above ? WIDTH : (call.width / to.width) * WIDTH;
    call.rect.setAttribute("x", x);
    call.rect.setAttribute("width", width);
    call.text.setAttribute("x", x + 3);
    call.text.textContent = fitting(call.name, width);
  }
}
function search(words) {
  let pattern = null;
  if (words) {
    try { pattern = new RegExp(words, "i"); } catch (error) { told.textContent = error.message; return; }
  }
  const found = calls.filter((call) => {
    const is = pattern !== null && pattern.test(call.whole);
    call.g.classList.toggle("found", is);
    return is;
  });
  // What lies under another that was found is in it already.
  found.sort((a, b) => a.y - b.y);
  const outer = [];
  for (const call of found) {
    if (!outer.some((o) => call.x >= o.x - 0.01 && call.x + call.width <= o.x + o.width + 0.01)) outer.push(call);
  }
  const share = outer.reduce((sum, call) => sum + call.width, 0) / WIDTH;
  told.textContent = pattern === null ? " " : `${(100 * share).toFixed(2)} % in what matches ${words}`;
}
const ask = () => search(prompt("Search for (a regular expression):") || "");
const undo = () => { widen(calls[0]); search(""); };
for (const call of calls) {
  call.g.addEventListener("click", () => widen(call));
  call.g.addEventListener("mouseover", () => { told.textContent = call.whole; });
}
document.getElementById("search").addEventListener("click", ask);
document.getElementById("undo").addEventListener("click", undo);
window.addEventListener("keydown", (event) => {
  if (event.key === "/" || (event.key === "f" && (event.ctrlKey || event.metaKey))) { event.preventDefault(); ask(); }
  if (event.key === "Escape") undo();
});
