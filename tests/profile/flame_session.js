// Runs the script of a flame graph on as much of a browser as it asks for, and tells what it made of the picture after each step.
// Standard input: {"script", "boxes": [{"name", "title", "x", "y", "width", "text"}], "steps": [["click", TITLE] | ["key", KEY, ANSWER]
// | ["press", ID, ANSWER]]}.
const { boxes, script, steps } = JSON.parse(require("fs").readFileSync(0, "utf8"));

class Element {
  constructor(attributes = {}, children = {}, textContent = "") {
    Object.assign(this, { attributes, children, textContent, listeners: {}, style: {}, dataset: {}, classes: new Set() });
    this.classList = { toggle: (name, is) => (is ? this.classes.add(name) : this.classes.delete(name)) };
  }
  getAttribute(name) { return this.attributes[name]; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  querySelector(name) { return this.children[name]; }
  addEventListener(event, call) { this.listeners[event] = call; }
}

const groups = boxes.map(({ name, title, x, y, width, text }) => {
  const group = new Element({}, { title: new Element({}, {}, title), rect: new Element({ x, y, width }), text: new Element({ x }, {}, text) });
  group.dataset.n = name;
  return group;
});
const byId = { told: new Element(), search: new Element(), undo: new Element() };
const window = new Element();
let answer = null;
const document = { getElementById: (id) => byId[id], querySelectorAll: () => groups };
new Function("document", "window", "prompt", script)(document, window, () => answer);

const seen = steps.map(([kind, what, said]) => {
  answer = said ?? null;
  if (kind === "click") groups.find((group) => group.querySelector("title").textContent === what).listeners.click();
  if (kind === "press") byId[what].listeners.click();
  if (kind === "key") window.listeners.keydown({ key: what, preventDefault() {} });
  const shown = groups.filter((group) => group.style.display !== "none");
  return {
    shown: Object.fromEntries(shown.map((group) => [group.dataset.n, Number(group.querySelector("rect").attributes.width)])),
    found: groups.filter((group) => group.classes.has("found")).map((group) => group.dataset.n),
    told: byId.told.textContent,
  };
});
console.log(JSON.stringify(seen));
