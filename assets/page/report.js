for (const element of document.querySelectorAll("[data-replay]")) {
  unpacked(document.getElementById(element.dataset.replay).textContent.trim()).then((data) => {
    data.theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    mount(element, data);
  });
}
