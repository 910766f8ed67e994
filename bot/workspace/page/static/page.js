// The page's own script: sends what the person does, and swaps in the parts the server rendered anew.
"use strict";

const here = document.body.dataset;
let revision = Number(here.revision);
const shown = {};

async function send(path, body, headers = {}) {
  const raw = body instanceof Blob;
  const response = await fetch(path, {
    method: "POST",
    headers: { "X-Workspace": "page", ...(raw ? {} : { "Content-Type": "application/json" }), ...headers },
    body: raw ? body : JSON.stringify({ as: here.as, channel: here.at, ...body }),
  });
  const answer = await response.json();
  if (!answer.ok) toast(answer.error);
  refresh();
  return answer;
}

function toast(text) {
  const box = document.getElementById("toast");
  box.textContent = text;
  box.classList.add("on");
  clearTimeout(box.timer);
  box.timer = setTimeout(() => box.classList.remove("on"), 6000);
}

// What stands in a field that was not sent yet survives a refresh of the same view.
function keepFields(box, change) {
  const fields = (root) => [...root.querySelectorAll("textarea, input:not([type=checkbox]):not([type=radio]):not([type=file])")];
  const view = box.querySelector("[data-view]")?.dataset.view;
  const kept = new Map(fields(box).map((one) => [one.dataset.block + "." + one.dataset.action, one.value]));
  const focused = document.activeElement?.dataset?.action;
  change();
  if (view !== box.querySelector("[data-view]")?.dataset.view) return;
  for (const one of fields(box)) {
    const key = one.dataset.block + "." + one.dataset.action;
    if (kept.get(key) && !one.value) one.value = kept.get(key);
    if (one.dataset.action && one.dataset.action === focused) one.focus();
  }
}

async function refresh() {
  const query = new URLSearchParams({ as: here.as, at: here.at, thread: here.thread });
  const answer = await (await fetch("/ui/parts?" + query)).json();
  revision = answer.revision;
  for (const [name, html] of Object.entries(answer.parts)) {
    const box = document.getElementById(name);
    if (!box || shown[name] === html) continue;
    const first = shown[name] === undefined;
    shown[name] = html;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 80;
    const before = box.querySelectorAll(".message").length;
    keepFields(box, () => { box.innerHTML = html; });
    if (name !== "thread") {
      if (first || atEnd) box.scrollTop = box.scrollHeight;
    } else if (atEnd && box.querySelectorAll(".message").length > before) {
      scrollToTop(box, [...box.querySelectorAll(".message")].at(-1));
    }
    if (name === "modal" && first === false) box.querySelector("textarea, input")?.focus();
  }
}

// A message is read from its beginning; one that fits stands at the end of the box all the same.
function scrollToTop(box, message) {
  if (message) box.scrollTop += message.getBoundingClientRect().top - box.getBoundingClientRect().top - 8;
}

// A thread opens on the app's last answer, which has buttons; without one at its end.
function openThread() {
  const box = document.getElementById("thread");
  const answers = [...(box?.querySelectorAll(".message[data-app]") ?? [])].filter((one) => one.querySelector(".actions"));
  if (answers.length) scrollToTop(box, answers.at(-1));
}

async function watch() {
  try {
    const answer = await (await fetch("/ui/revision")).json();
    if (answer.revision !== revision) await refresh();
  } catch { /* the workspace was stopped; it may come back */ }
  setTimeout(watch, 500);
}

// Where an element sits: a view, or a message.
function place(element) {
  const view = element.closest("[data-view]");
  if (view) return { view: view.dataset.view };
  return { ts: element.closest("[data-ts]")?.dataset.ts };
}

function key(element) {
  return { block_id: decodeURIComponent(element.dataset.block), action_id: decodeURIComponent(element.dataset.action) };
}

function valueOf(element) {
  const kind = element.dataset.kind;
  if (kind === "checkboxes") return [...element.querySelectorAll("input:checked")].map((one) => one.value);
  if (kind === "radio_buttons") return element.querySelector("input:checked")?.value ?? null;
  if (element.multiple) return [...element.selectedOptions].map((one) => one.value);
  return element.value || null;
}

document.addEventListener("change", async (event) => {
  if (event.target.id === "locale") {
    await send("/ui/locale", { locale: event.target.value });
    location.reload();
    return;
  }
  const composer = event.target.closest(".composer");
  if (composer && event.target.type === "file") {
    await stage(composer, event.target.files);
    event.target.value = "";
    return;
  }
  const element = event.target.closest("[data-action]");
  if (!element || element.dataset.kind === "button" || element.dataset.kind === "overflow") return;
  if (element.type === "file") {
    const ids = await Promise.all([...element.files].map(stageOne));
    await send("/ui/act", { ...place(element), ...key(element), value: ids });
    return;
  }
  await send("/ui/act", { ...place(element), ...key(element), value: valueOf(element) });
});

document.addEventListener("click", async (event) => {
  for (const menu of document.querySelectorAll(".more[open], .overflow[open]")) {
    if (!menu.contains(event.target) || event.target.closest(".menu")) menu.open = false;
  }
  const link = event.target.closest("a[href]");
  if (link && !event.ctrlKey && !event.metaKey && link.origin === location.origin && link.pathname.startsWith("/archives/")) {
    event.preventDefault(); // the same person goes on reading, in the same window
    location.href = link.pathname + "?" + new URLSearchParams([...new URLSearchParams(link.search), ["as", here.as]]);
    return;
  }
  const pressed = event.target.closest("[data-action]");
  if (pressed && ["button", "overflow"].includes(pressed.dataset.kind)) {
    if (pressed.dataset.confirm && !confirm(pressed.dataset.confirm)) return;
    const press = pressed.dataset.kind === "button";
    pressed.classList.add("waiting");
    await send("/ui/act", { ...place(pressed), ...key(pressed), press, value: press ? undefined : pressed.value });
    pressed.classList.remove("waiting");
    return;
  }
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const { ts } = place(button);
  const message = button.closest("[data-ts]");
  switch (button.dataset.do) {
    case "samples": {
      button.disabled = true;
      const answer = await send("/ui/samples", {});
      button.disabled = false;
      if (answer.ok && answer.at !== here.at) location.search = new URLSearchParams({ as: here.as, at: answer.at });
      break;
    }
    case "close": await send("/ui/close", {}); break;
    case "react": await send("/ui/react", { ts, name: button.dataset.name }); break;
    case "shortcut": await send("/ui/shortcut", { ts, callback_id: button.dataset.callback }); break;
    case "delete": if (confirm(here.confirm)) await send("/ui/delete", { ts }); break;
    case "edit": {
      const text = prompt(button.textContent, message.dataset.text);
      if (text) await send("/ui/edit", { ts, text });
      break;
    }
    case "mention": {
      const field = button.closest("form").elements.text;
      const gap = /\S$/.test(field.value.slice(0, field.selectionStart)) ? " " : "";
      field.setRangeText(gap + button.dataset.text, field.selectionStart, field.selectionEnd, "end");
      field.focus();
      grow(field);
    }
  }
});

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.classList.contains("composer")) {
    const field = form.elements.text;
    const files = [...form.querySelectorAll(".staged li")].map((one) => one.dataset.file);
    const text = field.value;
    if (!text.trim() && !files.length) return;
    field.value = "";
    form.querySelector(".staged").replaceChildren();
    grow(field);
    const broadcast = form.elements.broadcast?.checked;
    const answer = await send("/ui/post", { text, files, thread: form.dataset.thread, broadcast });
    if (!answer.ok) field.value = text;
  } else if (form.classList.contains("modal")) {
    const fields = [...form.querySelectorAll(".input [data-action]")].filter((one) => one.type !== "file");
    const values = fields.map((one) => [key(one).block_id, key(one).action_id, valueOf(one)]);
    await send("/ui/submit", { values });
  }
});

async function stageOne(file) {
  const query = new URLSearchParams({ as: here.as, name: file.name });
  return (await send("/ui/stage?" + query, file)).file;
}

async function stage(composer, files) {
  for (const file of files) {
    const id = await stageOne(file);
    if (!id) continue;
    const item = document.createElement("li");
    item.dataset.file = id;
    item.textContent = "📄 " + file.name;
    composer.querySelector(".staged").append(item);
  }
  composer.elements.text.focus();
}

function grow(field) {
  field.style.height = "auto";
  field.style.height = Math.min(field.scrollHeight, 240) + "px";
  field.classList.toggle("tall", field.scrollHeight > 240);
}

document.addEventListener("input", (event) => { if (event.target.closest(".composer")) grow(event.target); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.querySelector(".modal")) send("/ui/close", {});
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.closest(".composer textarea")) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", name === "dragover");
    const composer = event.target.closest?.(".thread")?.querySelector(".composer") ?? document.querySelector("main .composer");
    if (name === "drop" && composer) stage(composer, event.dataTransfer.files);
  });
}

for (const box of document.querySelectorAll(".scroll")) box.scrollTop = box.scrollHeight;
openThread();
document.querySelector(location.hash && CSS.escape ? "#" + CSS.escape(location.hash.slice(1)) : "none")?.scrollIntoView();
if (here.at === "home") send("/ui/home", {});
watch();
