// SPDX-License-Identifier: Apache-2.0
// All jobs that the visitor may see. Ten thousand rows are no more work than fifty.

import { html, useState } from "../vendor/htm-preact.module.js";
import { Phase, Trouble, VirtualRows, jobLink } from "../ui.js";
import { age, plural } from "../format.js";
import { objectRows } from "./job_rows.js";

export const jobTopics = (route, session, ns) => ({ jobs: { table: "gpujobs", namespace: ns } });

const order = {
  newest: (a, b) => (a.Created > b.Created ? -1 : 1),
  name: (a, b) => (a.key < b.key ? -1 : 1),
  phase: (a, b) => (a.Phase === b.Phase ? order.newest(a, b) : a.Phase < b.Phase ? -1 : 1),
};

export function Jobs({ topics }) {
  const topic = topics.get("jobs");
  const [find, setFind] = useState("");
  const [phase, setPhase] = useState("");
  const [by, setBy] = useState("newest");
  const trouble = Trouble({ topic, what: "jobs" });
  if (trouble && !topic?.rows.size) return html`<h1>Jobs</h1>${trouble}`;
  const all = objectRows(topic);
  const phases = [...new Set(all.map((job) => job.Phase))].filter(Boolean).sort();
  const jobs = all.filter((job) => (!phase || job.Phase === phase) && (job.key.includes(find) || job.Pool.includes(find) || job.Nodes.includes(find))).sort(order[by]);
  const row = (i) => {
    const job = jobs[i];
    return html`<div class="row job-row" key=${job.key} role="row"><span role="cell"><a href=${jobLink(job.Namespace, job.Name)}>${job.key}</a></span>
      <span role="cell"><${Phase} phase=${job.Phase} /></span><span role="cell">${job.Pool}</span><span role="cell">${job.GPUs}</span>
      <span role="cell" title=${job.Nodes}>${job.Nodes}</span><span role="cell">${job.Reason}</span><span role="cell">${age(job.Created)}</span></div>`;
  };
  return html`<h1>Jobs</h1>
    <div class="tools"><label>Find <input type="search" value=${find} onInput=${(e) => setFind(e.target.value)} placeholder="job, pool or node" /></label>
      <label>Phase <select value=${phase} onChange=${(e) => setPhase(e.target.value)}><option value="">all</option>${phases.map((p) => html`<option key=${p} value=${p} selected=${p === phase}>${p}</option>`)}</select></label>
      <label>Order <select value=${by} onChange=${(e) => setBy(e.target.value)}>${Object.keys(order).map((o) => html`<option key=${o} value=${o} selected=${o === by}>${o}</option>`)}</select></label>
      <span role="status">${plural(jobs.length, "job")}</span></div>
    <div class="rows" role="table" aria-label="Jobs" aria-rowcount=${jobs.length}>
      <div class="row job-row head" role="row">${["Job", "Phase", "Pool", "GPUs", "Nodes", "Reason", "Age"].map((name) => html`<span role="columnheader" key=${name}>${name}</span>`)}</div>
      <${VirtualRows} count=${jobs.length} height=${28} row=${row} label="Jobs" /></div>
    ${jobs.length === 0 && html`<p>No job fits.</p>`}`;
}
