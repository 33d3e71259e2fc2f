// SPDX-License-Identifier: Apache-2.0
// One job: what it does and did, its metrics, its logs.

import { html, useEffect, useMemo, useState } from "../vendor/htm-preact.module.js";
import { Conditions, Phase, Trouble } from "../ui.js";
import { age, bytes, cost, moment, plural } from "../format.js";
import { mayAll, request } from "../session.js";
import { LogView } from "./log.js";
import { CurvesView } from "./curves_view.js";
import { Timeline } from "./timeline.js";

export const jobTopicsOf = (route) => ({
  job: { objects: "gpujobs", namespace: route.namespace, name: route.name },
  ...(route.uid ? { events: { objects: "events", namespace: route.namespace, involved: route.uid } } : {}),
  log: { log: true, namespace: route.namespace, name: route.name, tail: 1000, ...(route.ranks ? { ranks: route.ranks } : {}),
    ...(route.attempt === undefined ? {} : { attempt: route.attempt }) },
});

const verbs = { suspend: ["patch", "Suspend", "Its workers are stopped and its nodes given back; it is kept and can be resumed."],
  resume: ["patch", "Resume", "It is put into the queue again."],
  cancel: ["delete", "Cancel", "It is deleted, with its pods and their logs."] };

function Actions({ job }) {
  const [may, setMay] = useState(null);
  const [asked, setAsked] = useState("");
  const [told, setTold] = useState("");
  const { namespace, name, uid } = job.metadata;
  useEffect(() => {
    const ask = (verb) => ({ verb, group: "gpupool.dev", resource: "gpujobs", namespace });
    mayAll([ask("patch"), ask("delete")]).then(([patch, remove]) => setMay({ patch, delete: remove }));
  }, [namespace]);
  const finished = ["Succeeded", "Failed"].includes(job.status?.phase);
  const act = async (verb) => {
    setAsked("");
    try {
      await request(`api/jobs/${namespace}/${name}/${verb}`, { uid });
      setTold(`${verbs[verb][1]}: done.`);
    } catch (error) {
      setTold(`${verbs[verb][1]} failed: ${error.message}`);
    }
  };
  const shown = [job.spec.suspend ? "resume" : "suspend", "cancel"];
  return html`<div class="actions">${shown.map((verb) => {
    const [right, word] = verbs[verb];
    const why = !may ? "" : !may[right] ? `You need the right to ${right} gpujobs in ${namespace}.` : finished && verb !== "cancel" ? "The job has ended." : "";
    return html`<button type="button" key=${verb} disabled=${!may || why !== ""} title=${why} onClick=${() => setAsked(verb)}>${word}</button>${why && html`<small>${why}</small>`}`;
  })}
  ${asked && html`<div class="confirm" role="alertdialog" aria-label=${`${verbs[asked][1]} ${name}?`}><p>${verbs[asked][1]} ${name}? ${verbs[asked][2]}</p>
    <button type="button" onClick=${() => act(asked)}>${verbs[asked][1]}</button> <button type="button" onClick=${() => setAsked("")}>Leave it</button></div>`}
  <p role="status" class="told">${told}</p></div>`;
}

function Facts({ job }) {
  const { status = {}, spec, metadata } = job;
  const queue = status.queue;
  const facts = [["Pool", html`<a href=${`#/pools/${spec.pool}`}>${spec.pool}</a>`], ["GPUs", status.gpus], ["Nodes", status.nodeNames],
    ["Attempts", status.attempts], ["Workers", status.workers?.total ? `${status.workers.running} running, ${status.workers.succeeded} succeeded, of ${status.workers.total}` : ""],
    ["Priority", spec.priority || 0], ["Submitted", `${moment(metadata.creationTimestamp)} (${age(metadata.creationTimestamp)} ago)`],
    ["Cost", cost(status)], ["Place in the queue", queue?.place], ["Likely start", queue?.estimatedStart && moment(queue.estimatedStart)], ["Tenant", queue?.tenant],
    ["Checkpoint", status.checkpoint && `step ${status.checkpoint.step}, ${age(status.checkpoint.at)} ago`]];
  return html`<dl class="facts">${facts.filter(([, value]) => value !== undefined && value !== "" && value !== null).map(([name, value]) =>
    html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Data({ status }) {
  const parts = [["Source", status?.source], ["Results", status?.results]].filter(([, part]) => part);
  return parts.map(([word, part]) => html`<table key=${word}><caption>${word}: ${part.state}${part.bytes ? `, ${bytes(part.bytes)} in ${part.seconds} s` : ""}</caption>
    <tbody>${(part.items || []).map((item, i) => html`<tr key=${i}><th scope="row">${item.path}</th><td>${item.state || ""}</td><td>${item.to || ""}</td>
      <td>${item.files !== undefined ? plural(item.files, "file") : ""}</td><td>${item.bytes !== undefined ? bytes(item.bytes) : ""}</td><td>${item.message || ""}</td></tr>`)}</tbody></table>`);
}

function Events({ topic }) {
  if (topic?.error) return html`<p class="note">Events: ${topic.error.message}</p>`;
  const events = [...(topic?.objects.values() || [])].sort((a, b) => ((a.lastTimestamp || a.eventTime) < (b.lastTimestamp || b.eventTime) ? 1 : -1)).slice(0, 50);
  if (events.length === 0) return null;
  return html`<details><summary>${plural(events.length, "event")}</summary><table><thead><tr><th>Time</th><th>Type</th><th>Reason</th><th>Message</th></tr></thead>
    <tbody>${events.map((e) => html`<tr key=${e.metadata.uid}><td>${moment(e.lastTimestamp || e.eventTime)}</td><td>${e.type}</td><td>${e.reason}</td><td>${e.message}</td></tr>`)}</tbody></table></details>`;
}

export function Job({ route, topics, go }) {
  const topic = topics.get("job");
  const job = topic?.objects.get(`${route.namespace}/${route.name}`);
  const uid = job?.metadata.uid;
  useEffect(() => {
    if (uid && route.uid !== uid) go({ ...route, uid }, true);
  }, [uid]);
  const names = JSON.stringify(job?.spec.metrics || null);
  const metrics = useMemo(() => JSON.parse(names), [names]);
  if (!job) {
    return html`<h1>Job ${route.namespace}/${route.name}</h1>${Trouble({ topic, what: "this job" }) ||
      html`<p>There is no job of this name any more. Its logs have gone with its pods.</p>`}`;
  }
  const status = job.status || {};
  const workers = Math.max(status.workers?.total || 0, 1);
  return html`<h1>Job ${route.namespace}/${route.name}</h1>
    <p class="state"><${Phase} phase=${status.phase} /> ${status.reason}</p>
    ${status.message && html`<pre class="message">${status.message}</pre>`}
    ${status.explanation?.text && status.phase === "Queued" && html`<details open><summary>Why it waits</summary><pre>${status.explanation.text}</pre></details>`}
    <${Actions} job=${job} />
    <${Facts} job=${job} />
    <${Timeline} job=${job} />
    <${CurvesView} metrics=${metrics} status=${status.metrics} log=${topics.get("log")?.log} />
    <${LogView} topic=${topics.get("log")} workers=${workers} attempts=${status.attempts || 0} route=${route} go=${go} />
    <${Data} status=${status} />
    <${Conditions} conditions=${status.conditions} />
    <${Events} topic=${topics.get("events")} />`;
}
