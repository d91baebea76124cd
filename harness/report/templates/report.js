"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const active = document.getElementById("active");
  const observations = [...document.querySelectorAll("details.ob")];
  const groups = [...document.querySelectorAll("article.group")];
  const names = ["q", "agreement", "class", "release", "card"];
  const classes = { disagree: "x", agree: "a", not_comparable: "n" };
  const texts = new WeakMap();
  let rowsWereFiltered = false;

  const textOf = (element) => {
    let text = texts.get(element);
    if (text === undefined) texts.set(element, (text = element.textContent.toLowerCase()));
    return text;
  };
  const has = (element, words) => words.every((word) => textOf(element).includes(word));
  const oneOf = (list, wanted) => !wanted || (list || "").split(" ").includes(wanted);

  /* A link holds an anchor, a filter, or both: #o3, #?agreement=disagree, #o3?q=warnings; ?q=warnings works too. */
  const split = () => {
    const [anchor, query] = location.hash.slice(1).split("?", 2);
    const parameters = new URLSearchParams(query === undefined ? location.search : query);
    return { anchor, filtered: query !== undefined || location.search.length > 1, parameters };
  };
  const read = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]));
  const write = (state, anchor) => {
    const parameters = new URLSearchParams(names.filter((name) => state[name]).map((name) => [name, state[name]]));
    const query = parameters.toString();
    const hash = "#" + (anchor || "") + (query ? "?" + query : "");
    try { history.replaceState(null, "", hash); } catch { location.hash = hash; }
  };

  const filterRows = (observation, state, words) => {
    const everywhere = words.length === 0 || has(observation.querySelector("summary"), words) ||
      [observation.querySelector(".gherkin")].some((part) => part && has(part, words));
    let found = 0;
    for (const card of observation.querySelectorAll("section.card")) {
      let inCard = 0;
      const kind = !state.card || card.dataset.k === state.card;
      for (const row of card.querySelectorAll("tbody:not(.m)>tr")) {
        const fits = kind && (!state.agreement || row.className === classes[state.agreement]) &&
          (everywhere || has(row, words));
        if (row.hidden === fits) row.hidden = !fits;
        if (fits) inCard += 1;
      }
      card.hidden = inCard === 0;
      found += inCard;
    }
    return { found, everywhere: everywhere && words.length > 0 };
  };

  const apply = () => {
    const state = read();
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const byRow = Boolean(state.agreement || state.card || words.length);
    let seen = 0, facts = 0;
    for (const observation of observations) {
      let fits = oneOf(observation.dataset.c, state.class) && (!state.release || observation.dataset.r === state.release);
      if (fits && (byRow || rowsWereFiltered)) {
        const rows = filterRows(observation, state, words);
        facts += rows.found;
        if (byRow) fits = rows.found > 0 || (rows.everywhere && !state.agreement && !state.card);
      }
      observation.hidden = !fits;
      if (fits) seen += 1;
    }
    rowsWereFiltered = byRow;
    let causes = 0;
    for (const group of groups) {
      const fits = oneOf(group.dataset.c, state.class) && oneOf(group.dataset.r, state.release) &&
        oneOf(group.dataset.k, state.card) && (!state.agreement || state.agreement === "disagree") && has(group, words);
      group.hidden = !fits;
      if (fits) causes += 1;
    }
    const on = names.some((name) => state[name]);
    active.hidden = !on;
    shown.textContent = !on ? "" : seen + " of " + observations.length + " observations" +
      (byRow ? " with " + facts + " facts" : "") + " and " + causes + " of " + groups.length + " causes are shown.";
    if (byRow && seen <= 3) for (const observation of observations) if (!observation.hidden) observation.open = true;
    return state;
  };

  const reveal = (anchor) => {
    const target = anchor && document.getElementById(anchor);
    if (!target) return;
    if (target.closest("[hidden]")) { form.reset(); apply(); }
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    requestAnimationFrame(() => target.scrollIntoView({ block: target.closest(".proofs,.facts") ? "center" : "start" }));
  };
  const follow = () => {
    const { anchor, filtered, parameters } = split();
    if (filtered) {
      for (const name of names) form.elements[name].value = parameters.get(name) || "";
      apply();
    }
    if (anchor) reveal(anchor);
    else if (filtered && location.hash.length > 1) reveal("filters");
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => write(apply(), ""), 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => write(apply(), "")));
  window.addEventListener("hashchange", follow);

  /* A reading and its place light up together, whichever of the two is pointed at or focused. */
  const place = /^o\d+p\d+$/;
  let lit = [];
  const light = (event) => {
    for (const element of lit) element.classList.remove("lit");
    lit = [];
    if (!(event.target instanceof Element)) return;
    const link = event.target.closest("a[href^='#o']");
    const mark = event.target.closest("mark[id],rect.mark[id],.places>li[id]");
    if (mark && place.test(mark.id)) {
      const readings = mark.closest("details.ob").querySelectorAll("td a[href='#" + mark.id + "']");
      lit = [mark, ...[...readings].map((reading) => reading.closest("td"))];
    } else if (link && place.test(link.getAttribute("href").slice(1))) {
      const target = document.getElementById(link.getAttribute("href").slice(1));
      lit = [target, link.closest("td")].filter(Boolean);
    }
    for (const element of lit) element.classList.add("lit");
  };
  document.addEventListener("pointerover", light);
  document.addEventListener("focusin", light);

  document.addEventListener("click", async (event) => {
    const mark = event.target.closest("mark[id],rect.mark[id],.places>li[id]");
    if (mark && String(getSelection()) === "") {
      const reading = mark.closest("details.ob").querySelector("td a[href='#" + mark.id + "']");
      if (reading) reading.closest("tr").scrollIntoView({ block: "center" });
    }
    const button = event.target.closest(".do-copy");
    if (!button) return;
    const box = button.parentElement.querySelector("textarea");
    const said = button.parentElement.querySelector(".copied");
    box.select();
    try {
      await navigator.clipboard.writeText(box.value);
      said.textContent = "Copied.";
    } catch {
      said.textContent = document.execCommand("copy") ? "Copied." : "Selected: press the copy keys.";
    }
  });

  follow();
})();
