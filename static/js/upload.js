// The upload form: files may be dropped, and what is too large is said before it is sent. Without this script
// the form works as it is.
(() => {
  const form = document.querySelector("form[data-drop]");
  if (!form) return;
  const input = form.querySelector("input[type=file]");
  const chosen = form.querySelector("[data-chosen]");
  const button = form.querySelector("button");
  const most = Number(form.dataset.most);
  const size = (bytes) =>
    bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

  const tell = () => {
    const files = [...input.files];
    const total = files.reduce((sum, file) => sum + file.size, 0);
    // The form around the files takes some bytes of its own.
    const fits = total + 1024 * (files.length + 1) <= most && files.length <= 100;
    const names = files.slice(0, 5).map((file) => `${file.name} (${size(file.size)})`);
    if (files.length > 5) names.push(`and ${files.length - 5} more`);
    const wrong = fits || !files.length ? "" : ` That is ${size(total)} in ${files.length} files, more than may be sent at once.`;
    chosen.textContent = names.join(", ") + wrong;
    chosen.classList.toggle("field-error", Boolean(wrong));
    button.disabled = Boolean(wrong);
  };

  form.querySelectorAll(".needs-script").forEach((element) => element.removeAttribute("hidden"));
  input.addEventListener("change", tell);
  form.addEventListener("submit", () => {
    // A second click would send them twice. After "back" the page is as it was before.
    setTimeout(() => { button.disabled = true; button.textContent = "Reading…"; });
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });

  let depth = 0;
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragenter", (event) => {
    if (!holdsFiles(event)) return;
    depth += 1;
    form.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!holdsFiles(event)) return;
    depth -= 1;
    if (depth <= 0) form.classList.remove("over");
  });
  document.addEventListener("dragover", (event) => {
    if (holdsFiles(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    // Anywhere on the page: a browser would leave it to show the file.
    event.preventDefault();
    depth = 0;
    form.classList.remove("over");
    input.files = event.dataTransfer.files;
    tell();
    button.focus();
  });
})();
