// SPDX-License-Identifier: Apache-2.0
// What became of a job, in order of time, from what its object tells.

import { html } from "../vendor/htm-preact.module.js";
import { moment } from "../format.js";

// [{at, text}] in order of time. Pure.
export function steps(job) {
  const { metadata, status = {} } = job;
  const list = [{ at: metadata.creationTimestamp, text: "submitted" }];
  for (const old of status.history || [])
    list.push({ at: old.at, text: `attempt ${old.attempt} left ${old.nodes || "its nodes"}: ${old.cause}${old.fromStep !== undefined ? `, went on from step ${old.fromStep}` : ""}` });
  if (status.lease?.heldSince) list.push({ at: status.lease.heldSince, text: `holds ${status.nodeNames || "nodes"}` });
  if (status.startTime) list.push({ at: status.startTime, text: `attempt ${Math.max(0, (status.attempts || 1) - 1)} started${status.nodeNames ? ` on ${status.nodeNames}` : ""}` });
  if (status.queue?.estimatedStart && !status.startTime) list.push({ at: status.queue.estimatedStart, text: "likely start" });
  if (status.completionTime) list.push({ at: status.completionTime, text: status.phase === "Succeeded" ? "succeeded" : `ended: ${status.reason}` });
  return list.filter((step) => step.at).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

export function Timeline({ job }) {
  return html`<h2>Timeline</h2><ol class="timeline">${steps(job).map((step, i) => html`<li key=${i}><time datetime=${step.at}>${moment(step.at)}</time> ${step.text}</li>`)}</ol>`;
}
