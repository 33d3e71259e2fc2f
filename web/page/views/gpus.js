// SPDX-License-Identifier: Apache-2.0
// The GPUs of a node, and who sits where: a block for each slice, a letter for each pod.

import { html } from "../vendor/htm-preact.module.js";
import { Bar } from "../ui.js";
import { mebibytes } from "../format.js";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// What each slice of a GPU shows: a letter of a pod, or "" if it is free. pods: namespace/name of each letter.
export function blocksOf(gpu) {
  const total = gpu.slices?.total || 1;
  const blocks = [];
  const pods = (gpu.pods || []).map((pod, i) => ({ ...pod, letter: letters[i % letters.length] }));
  for (const pod of pods) for (let i = 0; i < (pod.slices || 1) && blocks.length < total; ++i) blocks.push(pod);
  while (blocks.length < total) blocks.push(null);
  return { blocks, pods };
}

export function Gpu({ gpu }) {
  const { blocks, pods } = blocksOf(gpu);
  const usage = gpu.usage || {};
  const free = blocks.filter((block) => !block).length;
  const bad = gpu.health && gpu.health !== "Healthy";
  const memory = usage.memoryUsedMiB !== undefined ? `${mebibytes(usage.memoryUsedMiB)} of ${mebibytes(gpu.memoryMiB)}` : mebibytes(gpu.memoryMiB || 0);
  return html`<li class="gpu">
    <div class="gpu-head"><strong>GPU ${gpu.index}</strong> <span>${gpu.model}</span>
      ${bad && html` <strong class="bad">✗ ${gpu.health}${gpu.reason ? `: ${gpu.reason}` : ""}</strong>`}</div>
    <div class="blocks" role="img" aria-label=${`${blocks.length - free} of ${blocks.length} slices taken`}>
      ${blocks.map((pod, i) => html`<span key=${i} class=${pod ? `block taken pattern-${pods.indexOf(pod) % 4}` : "block"}>${pod ? pod.letter : ""}</span>`)}</div>
    ${pods.length > 0 && html`<ul class="sitters">${pods.map((pod) => html`<li key=${pod.namespace + pod.name}><b>${pod.letter}</b> ${pod.namespace}/${pod.name}${pod.slices > 1 ? `, ${pod.slices} slices` : ""}</li>`)}</ul>`}
    <div class="readings">
      ${usage.utilizationPercent !== undefined && html`<${Bar} value=${usage.utilizationPercent} most=${100} label=${`${usage.utilizationPercent} % busy`} />`}
      <${Bar} value=${usage.memoryUsedMiB || 0} most=${gpu.memoryMiB} label=${memory} />
      ${usage.temperatureCelsius !== undefined && html`<span>${usage.temperatureCelsius} °C</span>`}
      ${usage.powerMilliwatts !== undefined && html`<span>${Math.round(usage.powerMilliwatts / 1000)} W</span>`}
    </div></li>`;
}
