// SPDX-License-Identifier: Apache-2.0
// Nodes, their GPUs, and who sits where.

import { html, useState } from "../vendor/htm-preact.module.js";
import { Trouble } from "../ui.js";
import { age, plural } from "../format.js";
import { Gpu } from "./gpus.js";

export const nodeTopics = () => ({ nodes: { objects: "gpunodes" } });

const pageSize = 50;

function Node({ node }) {
  const status = node.status || {};
  const late = status.lastReport && Date.now() - Date.parse(status.lastReport) > 120000;
  return html`<section class="node" aria-label=${`Node ${node.metadata.name}`}>
    <h2>${node.metadata.name}</h2>
    <p>${plural(status.gpuCounts?.total ?? 0, "GPU")}, ${status.gpuCounts?.healthy ?? 0} healthy${status.driverVersion ? `, driver ${status.driverVersion}` : ""}${status.cudaVersion ? `, CUDA ${status.cudaVersion}` : ""}
      ${late && html` <strong class="bad">✗ its device plugin was last heard of ${age(status.lastReport)} ago</strong>`}</p>
    ${status.message && html`<p class="note">${status.message}</p>`}
    ${(status.excesses || []).map((e) => html`<p class="bad" key=${e.podUID + e.device}>✗ ${e.namespace ? `${e.namespace}/${e.pod}` : "A process"} uses ${e.usedMiB} MiB of GPU memory and may use ${e.limitMiB} MiB</p>`)}
    <ul class="gpus">${(status.gpus || []).map((gpu) => html`<${Gpu} key=${gpu.uuid} gpu=${gpu} />`)}</ul></section>`;
}

export function Nodes({ topics }) {
  const topic = topics.get("nodes");
  const [find, setFind] = useState("");
  const [page, setPage] = useState(0);
  const trouble = Trouble({ topic, what: "nodes" });
  if (trouble && !topic?.objects.size) return html`<h1>Nodes</h1>${trouble}`;
  const fits = (node) => node.metadata.name.includes(find) ||
    (node.status?.gpus || []).some((gpu) => gpu.model?.includes(find) || (gpu.pods || []).some((pod) => `${pod.namespace}/${pod.name}`.includes(find)));
  const nodes = [...topic.objects.values()].filter(fits).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const pages = Math.max(1, Math.ceil(nodes.length / pageSize));
  const at = Math.min(page, pages - 1);
  return html`<h1>Nodes</h1>
    <div class="tools"><label>Find <input type="search" value=${find} onInput=${(e) => setFind(e.target.value)} placeholder="node, model or pod" /></label>
      <span role="status">${plural(nodes.length, "node")}</span>
      ${pages > 1 && html`<button type="button" disabled=${at === 0} onClick=${() => setPage(at - 1)}>Earlier</button><span>${at + 1} of ${pages}</span>
        <button type="button" disabled=${at === pages - 1} onClick=${() => setPage(at + 1)}>Later</button>`}</div>
    ${nodes.slice(at * pageSize, (at + 1) * pageSize).map((node) => html`<${Node} key=${node.metadata.name} node=${node} />`)}`;
}
