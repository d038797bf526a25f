const $ = (id) => document.getElementById(id);
const root = document.documentElement;

const unpacked = async (text) => {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
};

let data;
try {
  data = await unpacked($("data").textContent);
} catch (error) {
  root.classList.remove("js"); // an old browser: the page is as without a script
  throw error;
}
const isBinary = data.positive.length === 1;

// Text is only ever inserted as text: labels are untrusted.
const make = (tag, className, ...content) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
};
const isolated = (text, className) => make("bdi", className, text);

const signed = (value) => {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const digits = size >= 0.001 && size < 1000 ? size.toFixed(3) : size.toExponential(1);
  return (value < 0 ? "\u2212" : "+") + digits;
};

const grouped = (n) => n.toLocaleString("en");
const count = (shown, all, what) => (shown === all ? `${grouped(all)} ${what}` : `${grouped(shown)} of ${grouped(all)} ${what}`);
const percent = (value, largest) => (largest > 0 ? Math.min(100, Math.round((100 * Math.abs(value)) / largest)) : 0);
const bar = (value, largest) => make("i", `bar-plain w${percent(value, largest)}`);
const signedBar = (value, largest) => make("i", `bar-signed ${value > 0 ? "for" : "against"} w${percent(value, largest)}`);

// Embedded pages may not be allowed to change their address.
const setAddress = (hash) => {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // then the address stays as it is
  }
};

// ------------------------------------------------------------ light and dark

const inDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : inDark.matches);
const showTheme = () => {
  $("theme").setAttribute("aria-pressed", String(isDark()));
  $("theme").querySelector("span").textContent = isDark() ? "Light" : "Dark";
};
$("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
inDark.addEventListener("change", showTheme);
showTheme();

// ------------------------------------------------------------ boxes that scroll

// A wide box fades out at each end behind which there is more, and can be scrolled by keyboard.
// Measure everything first, then change it, so that the browser computes one layout.
const showEnds = (boxes) => {
  const ends = boxes.map((box) => [box.scrollLeft > 1, box.scrollLeft + box.clientWidth < box.scrollWidth - 1]);
  boxes.forEach((box, i) => {
    const [left, right] = ends[i];
    box.classList.toggle("more-left", left);
    box.classList.toggle("more-right", right);
    if (left || right) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
};
let waiting = 0;
const showEndsSoon = () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => showEnds([...document.querySelectorAll(".scroll")].filter((box) => box.clientWidth > 0)));
};
addEventListener("resize", showEndsSoon);
document.addEventListener("scroll", (event) => {
  if (event.target.classList && event.target.classList.contains("scroll")) showEnds([event.target]);
}, { passive: true, capture: true });

