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
