"use strict";
(() => {
  document.documentElement.classList.add("js");
  const form = document.getElementById("filter");
  if (!form) return;
  const shown = document.getElementById("shown");
  const active = document.getElementById("active");
  const rows = [...document.querySelectorAll("#facts tbody>tr")];
  const names = ["q", "change", "agreement", "surface", "card"];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const oneOf = (list, wanted) => !wanted || list.split(" ").includes(wanted);

  /* A link holds an anchor, a filter, or both: #facts, #?change=display, #facts?q=warnings; ?q=warnings works too. */
  const split = () => {
    const [anchor, query] = location.hash.slice(1).split("?", 2);
    const parameters = new URLSearchParams(query === undefined ? location.search : query);
    return { anchor, filtered: query !== undefined || location.search.length > 1, parameters };
  };
  const write = (state) => {
    const parameters = new URLSearchParams(names.filter((name) => state[name]).map((name) => [name, state[name]]));
    const hash = "#" + (String(parameters) ? "?" + parameters : "");
    try { history.replaceState(null, "", hash); } catch { location.hash = hash; }
  };
  const apply = () => {
    const state = Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]));
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    let seen = 0;
    rows.forEach((row, number) => {
      const changes = row.dataset.h;
      const fits = (state.change === "any" ? changes !== "" : oneOf(changes, state.change)) &&
        (!state.agreement || row.dataset.g === state.agreement) && oneOf(row.dataset.s, state.surface) &&
        oneOf(row.dataset.k, state.card) && words.every((word) => texts[number].includes(word));
      row.hidden = !fits;
      if (fits) seen += 1;
    });
    const on = names.some((name) => state[name]);
    active.hidden = !on;
    shown.textContent = on ? seen + " of " + rows.length + " facts on surfaces are shown." : "";
    return state;
  };
  const follow = () => {
    const { anchor, filtered, parameters } = split();
    if (filtered) {
      for (const name of names) form.elements[name].value = parameters.get(name) || "";
      apply();
    }
    const target = document.getElementById(anchor || (filtered && location.hash.length > 1 ? "facts" : ""));
    if (!target) return;
    if (target.closest("[hidden]")) { form.reset(); apply(); }
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    requestAnimationFrame(() => target.scrollIntoView());
  };
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => write(apply()), 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => write(apply())));
  window.addEventListener("hashchange", follow);
  follow();
})();
