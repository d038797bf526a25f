// ------------------------------------------------------------ drawing

const SVG = "http://www.w3.org/2000/svg";
const makeSvg = (tag, attributes, ...content) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
};

const HEIGHT = 20; // of a node's box
const labelOf = (drawing, place) => {
  const label = drawing.labels[place];
  return data.whole[label] ?? data.labels[label];
};

const drawNode = (drawing, place, className) => {
  const label = drawing.labels[place];
  const [x, y, width] = [drawing.x[place], drawing.y[place], data.widths[label]];
  const text = makeSvg("text", { x, y: y + 4.5 }, data.labels[label]);
  const hidden = drawing.hidden && drawing.hidden[place];
  if (hidden) {
    const node = makeSvg("g", { class: "node ellipsis" }, text);
    node.tip = [`${grouped(hidden)} ${hidden === 1 ? "node is" : "nodes are"} not shown`];
    return node;
  }
  const box = makeSvg("rect", { x: x - width / 2, y: y - HEIGHT / 2, width, height: HEIGHT, rx: 5 });
  const node = makeSvg("g", { class: className, "data-node": place }, box, text);
  if (label in data.whole) node.tip = [data.whole[label]];
  return node;
};

// Draws a tree; `hits` are the nodes of a fragment that occurs in it.
const draw = (drawing, hits = []) => {
  const [width, height] = drawing.size;
  const inner = new Set(drawing.parents);
  const open = new Set(drawing.open);
  const hit = new Set(hits);
  const edge = (place, parent) => (parent < 0 ? "" : `M${drawing.x[parent]} ${drawing.y[parent]}${drawing.edges[place]}`);
  const line = (places) => places.map((place) => edge(place, drawing.parents[place])).join("");
  const places = [...drawing.labels.keys()];
  const svg = makeSvg(
    "svg",
    { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `tree with the root ${data.labels[drawing.labels[0]]}` },
    makeSvg("path", { class: "edge", d: line(places) }),
  );
  const hitLine = line(places.filter((place) => hit.has(place) && hit.has(drawing.parents[place])));
  if (hitLine) svg.append(makeSvg("path", { class: "edge hit", d: hitLine }));
  for (const place of places) {
    const kind = open.has(place) ? " open" : inner.has(place) ? "" : " leaf";
    svg.append(drawNode(drawing, place, `node${kind}${hit.has(place) ? " hit" : ""}`));
  }
  return svg;
};

// ------------------------------------------------------------ what a node says

const tip = $("tip");
const hideTip = () => {
  tip.hidden = true;
};
const showTip = (node) => {
  const [label, value] = node.tip;
  tip.replaceChildren(isolated(label), ...(value ? [" ", make("b", "", value)] : []));
  (node.closest("dialog") || document.body).append(tip); // a dialog covers all outside it
  tip.hidden = false;
  const box = node.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(box.left + box.width / 2 - own.width / 2, 6), innerWidth - own.width - 6);
  const above = box.top - own.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above < 60 ? box.bottom + 8 : above}px`;
};
const nodeAt = (event) => {
  const node = event.target.closest && event.target.closest(".node");
  return node && node.tip ? node : null;
};
const tell = (event) => {
  const node = nodeAt(event);
  if (node) showTip(node);
  else hideTip();
};
// A mouse points, a finger taps, a keyboard focuses.
document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "mouse") tell(event);
});
document.addEventListener("click", tell);
document.addEventListener("focusin", tell);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
addEventListener("scroll", hideTip, { passive: true, capture: true });

// ------------------------------------------------------------ going from node to node

// One tab stop for the whole tree, then arrow keys.
const makeWalkable = (svg, drawing) => {
  const nodes = drawing.labels.map((_, place) => svg.querySelector(`[data-node="${place}"]`));
  svg.setAttribute("role", "tree");
  svg.setAttribute("aria-label", "The tree; arrow keys go from node to node");
  for (const node of nodes.filter(Boolean)) {
    node.setAttribute("role", "treeitem");
    node.setAttribute("tabindex", "-1");
  }
  nodes[0].setAttribute("tabindex", "0");
  const { parents } = drawing;
  const target = (place, key) => {
    const row = [...parents.keys()].filter((other) => parents[other] === parents[place] && nodes[other]);
    if (key === "ArrowUp") return parents[place];
    if (key === "ArrowDown") return parents.findIndex((parent, other) => parent === place && nodes[other]);
    if (key === "ArrowLeft") return row[row.indexOf(place) - 1];
    if (key === "ArrowRight") return row[row.indexOf(place) + 1];
    return 0;
  };
  svg.addEventListener("keydown", (event) => {
    const node = event.target.closest("[data-node]");
    if (!node || !/^(Arrow|Home)/.test(event.key)) return;
    event.preventDefault();
    const next = nodes[target(nodes.indexOf(node), event.key)];
    if (!next) return;
    for (const other of nodes.filter(Boolean)) other.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
};

// ------------------------------------------------------------ a tree in a dialog

const dialog = $("dialog");
const openTree = (number, title, hits) => {
  const tree = data.trees[number];
  $("dialog-title").replaceChildren(...title);
  $("dialog-note").replaceChildren(isolated(tree.note));
  $("dialog-words").replaceChildren(isolated(tree.words));
  $("dialog-tree").replaceChildren(draw(tree.drawing, hits));
  hideTip();
  dialog.showModal();
  $("dialog-title").focus();
  const first = dialog.querySelector(".node.hit");
  if (first) first.scrollIntoView({ block: "nearest", inline: "center" });
  showEndsSoon();
};
$("dialog-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", hideTip);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

// A link with the text of a tree's sentence.
const treeLink = (number, title, hits) => {
  const link = make("button", "link", isolated(data.trees[number].words));
  link.type = "button";
  link.addEventListener("click", () => openTree(number, title(), hits));
  return link;
};

