// SPDX-License-Identifier: Apache-2.0
// The live log of all ranks. Lines are text, whatever they hold.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact.module.js";
import { VirtualRows } from "../ui.js";
import { clock } from "../format.js";

const wrapped = 1000; // lines shown when long lines are wrapped

// The lines that fit, kept up to date without looking at old ones again.
function useShown(log, find, rank) {
  const state = useRef(null);
  const key = `${find}\n${rank}`;
  if (state.current?.log !== log || state.current.key !== key || state.current.dropped !== log?.dropped) {
    state.current = { log, key, dropped: log?.dropped, at: 0, lines: [] };
  }
  const shown = state.current;
  const needle = find.toLowerCase();
  for (; log && shown.at < log.lines.length; ++shown.at) {
    const line = log.lines[shown.at];
    if ((rank === "" || line.rank === Number(rank) || line.note) && (!needle || line.text.toLowerCase().includes(needle))) shown.lines.push(line);
  }
  return shown.lines;
}

function download(log) {
  const text = log.lines.map((line) => `${line.note ? "# " : ""}${line.rank >= 0 ? `${line.rank} | ` : ""}${line.text}\n`);
  const url = URL.createObjectURL(new Blob(text, { type: "text/plain" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: "log.txt" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function Line({ line, ranks, times }) {
  if (line.note) return html`<div class=${`line note-line${line.problem ? " problem" : ""}`}>${line.problem ? "! " : "# "}${line.text}</div>`;
  return html`<div class="line">${times && line.time > 0 ? html`<span class="time">${clock(line.time)}</span> ` : ""}${ranks && line.rank >= 0 ? html`<span class="rank">${line.rank} |</span> ` : ""}${line.text}</div>`;
}

export function LogView({ topic, workers, attempts, route, go }) {
  const [find, setFind] = useState("");
  const [rank, setRank] = useState("");
  const [wrap, setWrap] = useState(false);
  const [times, setTimes] = useState(false);
  const [stick, setStick] = useState(true);
  const log = topic?.log;
  const lines = useShown(log, find, rank);
  const box = useRef(null);
  useEffect(() => {
    if (wrap && stick && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  if (topic?.error) {
    return html`<h2>Log</h2><div class="trouble" role="alert"><strong>${topic.error.status === 403 ? "You may not read the logs of this job." : "The log cannot be read now."}</strong><pre>${topic.error.message}</pre></div>`;
  }
  const ranks = workers > 1;
  const state = !log ? "Waiting for the log …" : topic.ended ? "The log is complete." : "Live.";
  return html`<h2 id="log">Log</h2>
    <div class="tools">
      ${ranks && html`<label>Rank <select value=${rank} onChange=${(e) => setRank(e.target.value)}><option value="">all</option>
        ${Array.from({ length: Math.min(workers, 1000) }, (_, i) => html`<option key=${i} value=${i}>${i}</option>`)}</select></label>`}
      ${attempts > 1 && html`<label>Attempt <select value=${route.attempt ?? ""} onChange=${(e) => go({ ...route, attempt: e.target.value === "" ? undefined : Number(e.target.value) })}>
        <option value="">newest</option>${Array.from({ length: attempts }, (_, i) => html`<option key=${i} value=${i}>${i}</option>`)}</select></label>`}
      <label>Find <input type="search" value=${find} onInput=${(e) => setFind(e.target.value)} /></label>
      <label><input type="checkbox" checked=${wrap} onChange=${(e) => setWrap(e.target.checked)} /> Wrap</label>
      <label><input type="checkbox" checked=${times} onChange=${(e) => setTimes(e.target.checked)} /> Times</label>
      <label><input type="checkbox" checked=${stick} onChange=${(e) => setStick(e.target.checked)} /> Follow</label>
      <button type="button" disabled=${!log?.lines.length} onClick=${() => download(log)}>Download</button>
      <span role="status">${state} ${lines.length} lines${log?.dropped ? `; ${log.dropped} older ones are not kept here` : ""}</span></div>
    ${wrap
      ? html`<div class="virtual log wrap" tabindex="0" role="region" aria-label="Log" ref=${box}>${lines.slice(-wrapped).map((line, i) => html`<${Line} key=${i} line=${line} ranks=${ranks} times=${times} />`)}</div>`
      : html`<${VirtualRows} className="log" count=${lines.length} height=${18} stick=${stick} onStick=${(end) => end !== stick && setStick(end)} label="Log"
          row=${(i) => html`<${Line} key=${i} line=${lines[i]} ranks=${ranks} times=${times} />`} />`}`;
}
