// SPDX-License-Identifier: Apache-2.0
// All pools, and one pool with its queue and its tenants.

import { html } from "../vendor/htm-preact.module.js";
import { Conditions, Phase, Trouble, jobLink } from "../ui.js";
import { age, plural, poolPrice, quantity } from "../format.js";
import { objectRows } from "./job_rows.js";

export const poolTopics = (route, session, ns) => ({
  pools: { objects: "gpupools" },
  ...(route.name ? { jobs: { table: "gpujobs", namespace: ns } } : {}),
});

function counts(status) {
  const gpus = status?.gpus || {};
  const slices = status?.slices;
  return html`<td class="number">${status?.nodes?.ready ?? 0} of ${status?.nodes?.total ?? 0}</td>
    <td class="number">${gpus.available ?? 0} of ${gpus.total ?? 0}</td>
    <td class="number">${slices?.total ? `${slices.free} of ${slices.total}` : "–"}</td>
    <td class="number">${status?.jobs?.running ?? 0}</td><td class="number">${status?.jobs?.queued ?? 0}</td>`;
}

export function Pools({ topics }) {
  const topic = topics.get("pools");
  const trouble = Trouble({ topic, what: "pools" });
  if (trouble && topic?.objects.size === 0) return html`<h1>Pools</h1>${trouble}`;
  const pools = [...topic.objects.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return html`<h1>Pools</h1>
    ${pools.length === 0 && html`<p>There is no pool yet. A GpuPool selects nodes by their labels.</p>`}
    <div class="scroll"><table><caption>${plural(pools.length, "pool")}</caption>
      <thead><tr><th>Name</th><th>Ready</th><th>Nodes ready</th><th>GPUs free</th><th>Slices free</th><th>Running</th><th>Waiting</th></tr></thead>
      <tbody>${pools.map((pool) => {
        const ready = pool.status?.conditions?.find((c) => c.type === "Ready");
        return html`<tr key=${pool.metadata.name}><th scope="row"><a href="#/pools/${pool.metadata.name}">${pool.metadata.name}</a></th>
          <td>${ready ? (ready.status === "True" ? "yes" : `no: ${ready.reason}`) : "–"}</td>${counts(pool.status)}</tr>`;
      })}</tbody></table></div>`;
}

// As the operator orders a pool without tenants: by priority, then by age. The rest is the operator's to say.
export function waitingOf(topic, pool) {
  const jobs = objectRows(topic).filter((job) => job.Pool === pool && job.Phase === "Queued");
  return jobs.sort((a, b) => Number(b.Priority || 0) - Number(a.Priority || 0) || (a.Created < b.Created ? -1 : 1));
}

function Queue({ topic, pool, turns }) {
  const trouble = Trouble({ topic, what: "jobs" });
  if (trouble) return trouble;
  const waiting = waitingOf(topic, pool);
  return html`<div class="scroll"><table><caption>Queue: ${plural(waiting.length, "job")}${turns ? "; tenants take turns, the page of a job tells its place" : ", by priority and age"}</caption>
    <thead><tr><th>${turns ? "" : "Place"}</th><th>Job</th><th>GPUs</th><th>Priority</th><th>Waits for</th><th>Reason</th></tr></thead>
    <tbody>${waiting.slice(0, 200).map((job, i) => html`<tr key=${job.key}><td>${turns ? "" : i + 1}</td>
      <th scope="row"><a href=${jobLink(job.Namespace, job.Name)}>${job.Namespace}/${job.Name}</a></th><td>${job.GPUs}</td>
      <td class="number">${job.Priority || 0}</td><td>${age(job.Created)}</td><td>${job.Reason}</td></tr>`)}</tbody></table></div>
    ${waiting.length > 200 && html`<p>${waiting.length - 200} more are not shown.</p>`}`;
}

function Running({ topic, pool }) {
  if (!topic?.complete) return null;
  const jobs = objectRows(topic).filter((job) => job.Pool === pool && job.Nodes && !["Queued", "Succeeded", "Failed", "Suspended"].includes(job.Phase));
  if (jobs.length === 0) return null;
  return html`<div class="scroll"><table><caption>On nodes: ${plural(jobs.length, "job")}</caption>
    <thead><tr><th>Job</th><th>Phase</th><th>GPUs</th><th>Nodes</th></tr></thead>
    <tbody>${jobs.slice(0, 200).map((job) => html`<tr key=${job.key}><th scope="row"><a href=${jobLink(job.Namespace, job.Name)}>${job.Namespace}/${job.Name}</a></th>
      <td><${Phase} phase=${job.Phase} /></td><td>${job.GPUs}</td><td>${job.Nodes}</td></tr>`)}</tbody></table></div>`;
}

export function Tenants({ pool }) {
  const tenants = pool.status?.queue?.tenants || [];
  if (tenants.length === 0) return null;
  return html`<div class="scroll"><table><caption>Tenants of ${pool.metadata.name}</caption>
    <thead><tr><th>Tenant</th><th>GPUs held</th><th>GPUs held on average</th><th>Used, GPU-hours (decayed)</th><th>Waiting</th></tr></thead>
    <tbody>${tenants.map((t) => html`<tr key=${t.name}><th scope="row">${t.name}</th><td class="number">${quantity(t.held || "0")}</td>
      <td class="number">${(quantity(t.averageHeld || "0") || 0).toFixed(2)}</td>
      <td class="number">${(Number(t.usage || 0) / 3600000).toFixed(2)}</td><td class="number">${t.queued || 0}</td></tr>`)}</tbody></table></div>`;
}

export function Pool({ route, topics }) {
  const topic = topics.get("pools");
  const pool = topic?.objects.get(route.name);
  if (!pool) return html`<h1>Pool ${route.name}</h1>${Trouble({ topic, what: "pools" }) || html`<p>There is no pool of this name.</p>`}`;
  const status = pool.status || {};
  const price = poolPrice(pool);
  return html`<h1>Pool ${route.name}</h1>
    <dl class="facts"><div><dt>Nodes</dt><dd>${status.nodes?.ready ?? 0} of ${status.nodes?.total ?? 0} ready, ${status.nodes?.leased ?? 0} leased</dd></div>
      <div><dt>GPUs</dt><dd>${status.gpus?.available ?? 0} of ${status.gpus?.total ?? 0} free</dd></div>
      ${status.slices?.total > 0 && html`<div><dt>Slices</dt><dd>${status.slices.free} of ${status.slices.total} free</dd></div>`}
      <div><dt>Models</dt><dd>${(status.gpus?.models || []).map((m) => `${m.count} ${m.model}${m.memory ? ` (${m.memory})` : ""}`).join(", ") || "–"}</dd></div>
      ${price && html`<div><dt>Price</dt><dd>${price}</dd></div>`}
      <div><dt>Jobs</dt><dd>${status.jobs?.running ?? 0} running, ${status.jobs?.queued ?? 0} waiting</dd></div></dl>
    ${status.draining?.length > 0 && html`<p class="note">Draining: ${status.draining.map((d) => `${d.node}${d.waitsFor ? ` (waits for ${d.waitsFor})` : ""}${d.problem ? `: ${d.problem}` : ""}`).join("; ")}</p>`}
    <${Running} topic=${topics.get("jobs")} pool=${route.name} />
    <${Queue} topic=${topics.get("jobs")} pool=${route.name} turns=${Boolean(pool.spec?.queue)} />
    <${Tenants} pool=${pool} />
    ${status.excluded?.length > 0 && html`<p class="note">Not used: ${status.excluded.map((e) => `${e.name} (${e.reason})`).join(", ")}</p>`}
    <${Conditions} conditions=${status.conditions} />`;
}
