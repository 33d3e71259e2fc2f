// SPDX-License-Identifier: Apache-2.0
// Who has used how much: the tenants of each pool with turns.

import { html } from "../vendor/htm-preact.module.js";
import { Trouble } from "../ui.js";
import { moment } from "../format.js";
import { Tenants } from "./pools.js";

export const usageTopics = () => ({ pools: { objects: "gpupools" } });

export function Usage({ topics }) {
  const topic = topics.get("pools");
  const trouble = Trouble({ topic, what: "pools" });
  if (trouble && !topic?.objects.size) return html`<h1>Usage</h1>${trouble}`;
  const pools = [...topic.objects.values()].filter((pool) => pool.status?.queue?.tenants?.length);
  return html`<h1>Usage</h1>
    ${pools.length === 0 && html`<p>No pool counts what its tenants use: only pools with spec.queue do.</p>`}
    ${pools.map((pool) => html`<section key=${pool.metadata.name}><${Tenants} pool=${pool} /><p class="note">As of ${moment(pool.status.queue.asOf)}.</p></section>`)}`;
}
