// The switch that hides or shows explanations, remembered by this browser.
const box = document.getElementById("explain");
const hide = () => document.documentElement.classList.toggle("brief", !!box && !box.checked);
if (box) {
  box.checked = localStorage.getItem("explain") !== "no";
  box.addEventListener("change", () => { localStorage.setItem("explain", box.checked ? "yes" : "no"); hide(); });
  hide();
}
// A release is asked for once, however often the button is pressed.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    setTimeout(() => { delete form.dataset.sent; }, 3000);
  });
}
// A heat map tells the cell that is pointed at, by the mouse or by the arrow keys.
const point = (cells, cell) => {
  cells.querySelector(".at")?.classList.remove("at");
  cell.classList.add("at");
  cells.nextElementSibling.textContent = `${cell.parentNode.dataset.row} to ${cell.dataset.said}`;
};
document.addEventListener("mouseover", (event) => {
  if (event.target.dataset?.said) point(event.target.closest(".explored"), event.target);
});
document.addEventListener("keydown", (event) => {
  const cells = event.target.closest?.(".explored"), across = Number(cells?.dataset.columns);
  const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
  if (!cells || !move) return;
  event.preventDefault();
  const all = [...cells.querySelectorAll("[data-said]")], now = all.findIndex((one) => one.matches(".at"));
  point(cells, all[Math.min(all.length - 1, Math.max(0, now < 0 ? 0 : now + move))]);
});
// What is dragged fills in the number beside it, which is what is sent.
const places = (number) => Number(number.toPrecision(4)).toString();
document.addEventListener("input", (event) => {
  const { sets, ration } = event.target.dataset ?? {};
  if (sets) document.getElementById(sets).value = event.target.value;
  const chosen = document.querySelector(".budget input:checked ~ [data-left]");
  const number = document.getElementById("budget-epsilon");
  if (!chosen?.dataset.left || !number) return;
  const left = Number(chosen.dataset.left), slider = document.getElementById("ration");
  if (ration) number.value = places(left * event.target.value);
  else if (event.target !== number && event.target.name !== "dataset") return;
  else slider.value = left > 0 ? Number(number.value) / left : 0;
  slider.setAttribute("aria-valuetext", `epsilon ${number.value} of ${left}`);
  const wide = 200 * Math.min(1, Number(number.value) / Number(chosen.dataset.all) || 0);
  const bar = chosen.querySelector(".asked"), from = Number(bar.getAttribute("x"));
  bar.setAttribute("width", Math.min(wide, 200 - from));
});
