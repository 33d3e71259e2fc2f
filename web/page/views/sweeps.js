// SPDX-License-Identifier: Apache-2.0
// Sweeps and their best trials.

import { html } from "../vendor/htm-preact.module.js";
import { Bar, Conditions, Phase, Trouble, jobLink } from "../ui.js";
import { age, plural } from "../format.js";
import { objectRows } from "./job_rows.js";

export const sweepTopics = (route, session, ns) =>
  (route.name ? { sweep: { objects: "gpusweeps", namespace: route.namespace, name: route.name } } : { sweeps: { table: "gpusweeps", namespace: ns } });

export function Sweeps({ topics }) {
  const topic = topics.get("sweeps");
  const trouble = Trouble({ topic, what: "sweeps" });
  if (trouble && !topic?.rows.size) return html`<h1>Sweeps</h1>${trouble}`;
  const sweeps = objectRows(topic).sort((a, b) => (a.Created > b.Created ? -1 : 1));
  return html`<h1>Sweeps</h1><div class="scroll"><table><caption>${plural(sweeps.length, "sweep")}</caption>
    <thead><tr><th>Sweep</th><th>Phase</th><th>Ended</th><th>Active</th><th>Failed</th><th>Best trial</th><th>Value</th><th>Age</th></tr></thead>
    <tbody>${sweeps.map((s) => html`<tr key=${s.key}><th scope="row"><a href=${`#/sweeps/${s.key}`}>${s.key}</a></th><td><${Phase} phase=${s.Phase} /></td>
      <td>${s.Ended}</td><td class="number">${s.Active}</td><td class="number">${s.Failed}</td><td>${s.Best}</td><td>${s.Value}</td><td>${age(s.Created)}</td></tr>`)}</tbody></table></div>`;
}

export function Sweep({ route, topics }) {
  const topic = topics.get("sweep");
  const sweep = topic?.objects.get(`${route.namespace}/${route.name}`);
  if (!sweep) return html`<h1>Sweep ${route.name}</h1>${Trouble({ topic, what: "this sweep" }) || html`<p>There is no sweep of this name.</p>`}`;
  const status = sweep.status || {};
  const counts = status.counts || {};
  const ended = (counts.succeeded || 0) + (counts.failed || 0) + (counts.stopped || 0);
  return html`<h1>Sweep ${route.namespace}/${route.name}</h1><p><${Phase} phase=${status.phase} /> ${status.reason}: ${status.message}</p>
    <p><${Bar} value=${ended} most=${counts.total || 0} label=${`${ended} of ${counts.total || 0} trials ended`} /></p>
    <div class="scroll"><table><caption>Best trials</caption><thead><tr><th>Trial</th><th>Value</th><th>Parameters</th><th>Job</th></tr></thead>
      <tbody>${(status.top || []).map((t) => html`<tr key=${t.trial}><th scope="row">${t.trial}</th><td class="number">${t.value}</td>
        <td>${Object.entries(t.parameters || {}).map(([k, v]) => `${k}=${v}`).join(", ")}</td><td><a href=${jobLink(route.namespace, t.job)}>${t.job}</a></td></tr>`)}</tbody></table></div>
    ${status.failures?.length > 0 && html`<table><caption>Failures</caption><tbody>${status.failures.map((f) => html`<tr key=${f.trial}><th scope="row">${f.trial}</th><td>${f.reason}</td><td>${f.message}</td></tr>`)}</tbody></table>`}
    <${Conditions} conditions=${status.conditions} />`;
}
