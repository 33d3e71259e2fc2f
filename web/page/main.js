// SPDX-License-Identifier: Apache-2.0
// The frame of the page: who the visitor is, which view is shown, and what it watches.

import { Component, html, render } from "./vendor/htm-preact.module.js";
import { readSession, signOut, signedInByToken, takeKey } from "./session.js";
import { SignIn } from "./sign_in.js";
import { Stream } from "./stream.js";
import { Bills, billTopics } from "./views/bills.js";
import { Job, jobTopicsOf } from "./views/job.js";
import { Jobs, jobTopics } from "./views/jobs.js";
import { Nodes, nodeTopics } from "./views/nodes.js";
import { Pool, Pools, poolTopics } from "./views/pools.js";
import { Sweep, Sweeps, sweepTopics } from "./views/sweeps.js";
import { Usage, usageTopics } from "./views/usage.js";

const views = {
  pools: { title: "Pools", list: Pools, one: Pool, topics: poolTopics },
  nodes: { title: "Nodes", list: Nodes, topics: nodeTopics },
  jobs: { title: "Jobs", list: Jobs, one: Job, topics: (route, session, ns) => (route.name ? jobTopicsOf(route) : jobTopics(route, session, ns)) },
  sweeps: { title: "Sweeps", list: Sweeps, one: Sweep, topics: sweepTopics },
  usage: { title: "Usage", list: Usage, topics: usageTopics },
  bills: { title: "Bills", list: Bills, topics: billTopics, needs: "ledger" }, // what the session must have
};

const kept = "gpupool-namespace";

// "#/jobs/lab/resnet" -> {view, namespace, name}
function readRoute() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return "";
    }
  });
  const view = views[parts[0]] ? parts[0] : "pools";
  if (view === "jobs" || view === "sweeps") return parts[2] ? { view, namespace: parts[1], name: parts[2] } : { view };
  return views[view].one && parts[1] ? { view, name: parts[1] } : { view };
}

class Page extends Component {
  constructor() {
    super();
    this.state = { session: null, route: readRoute(), connected: false, told: "", unknown: null, drawn: 0, ns: localStorage.getItem(kept) };
    this.stream = new Stream({
      onChange: () => this.drawSoon(),
      onState: (connected, told) => this.setState({ connected, told: told || (connected ? "" : "The connection was lost. It is made again.") }),
      onUnknown: (error) => this.setState({ unknown: { mode: error.mode || this.state.session?.mode || "token", message: error.message } }),
    });
    this.go = this.go.bind(this);
  }

  componentDidMount() {
    window.addEventListener("hashchange", () => {
      this.setState({ route: readRoute() });
      document.getElementById("main")?.focus();
      window.scrollTo(0, 0);
    });
    setInterval(() => this.drawSoon(), 10000); // ages grow while nothing else changes
    this.begin();
  }

  componentDidUpdate() {
    const { route } = this.state;
    document.title = `${route.name || views[route.view].title} · gpupool`;
  }

  namespace() {
    const { session, ns } = this.state;
    if (ns !== null) return ns;
    return session.allNamespaces ? "" : session.namespace || "default";
  }

  // The namespace is the only thing that is kept for the next visit.
  choose(ns) {
    localStorage.setItem(kept, ns);
    this.setState({ ns });
  }

  async begin() {
    try {
      const session = await readSession();
      this.setState({ session, unknown: null, told: "" });
      this.stream.open(); // with these credentials; the views say what
    } catch (error) {
      if (error.status === 401) this.setState({ unknown: { mode: error.mode || "token", message: error.message } });
      else {
        this.setState({ told: error.message });
        setTimeout(() => this.begin(), 3000);
      }
    }
  }

  // At most one picture for each frame, however much is received.
  drawSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.setState({ drawn: this.state.drawn + 1 });
    });
  }

  // Another route, without an entry in the history if `quiet` or if only what is shown of it changes.
  go(route) {
    this.setState({ route });
  }

  render() {
    const { session, route, unknown, connected, told } = this.state;
    if (unknown) return html`<${SignIn} ...${unknown} onDone=${() => this.begin()} />`;
    if (!session) return html`<main id="main"><p role="status">${told || "Connecting …"}</p></main>`;
    const view = views[route.view];
    const View = route.name && view.one ? view.one : view.list;
    const ns = this.namespace();
    this.stream.watch(view.topics(route, session, ns));
    return html`<a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById("main").focus(); }}>To the content</a>
      <header><strong class="brand">gpupool</strong>
        <nav aria-label="Views">${Object.entries(views).filter(([, { needs }]) => !needs || session[needs]).map(([id, { title }]) => html`<a key=${id} href=${`#/${id}`} aria-current=${id === route.view ? "page" : undefined}>${title}</a>`)}</nav>
        <label class="namespace">Namespace <input value=${ns} placeholder=${session.allNamespaces ? "all" : "name"} size="12" spellcheck="false" autocomplete="off"
          onChange=${(e) => this.choose(e.target.value.trim())} /></label>
        <span class="who">${session.user || (session.mode === "local" ? "your kubeconfig" : "signed in")}
          ${signedInByToken() && html` <button type="button" onClick=${() => { signOut(); this.stream.close(); this.setState({ session: null, unknown: { mode: "token", message: "Signed out." } }); }}>Sign out</button>`}</span></header>
      <p class="connection" role="status">${connected ? "" : told}</p>
      <main id="main" tabindex="-1"><${View} key=${`${route.view}/${route.namespace || ""}/${route.name || ""}`} route=${route} topics=${this.stream.topics} session=${session} ns=${ns} go=${this.go} /></main>`;
  }
}

takeKey();
render(html`<${Page} />`, document.getElementById("page"));
