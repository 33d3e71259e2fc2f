// SPDX-License-Identifier: Apache-2.0
import { html, useState } from "./vendor/htm-preact.module.js";
import { signIn } from "./session.js";

export function SignIn({ mode, message, onDone }) {
  const [token, setToken] = useState("");
  const [keep, setKeep] = useState(false);
  if (mode !== "token") {
    return html`<main id="main" tabindex="-1"><h1>Not signed in</h1><p role="alert">${message}</p></main>`;
  }
  const submit = (event) => {
    event.preventDefault();
    if (!token.trim()) return;
    signIn(token, keep);
    onDone();
  };
  return html`<main id="main" tabindex="-1"><h1>Sign in</h1><p role="alert">${message}</p>
    <form onSubmit=${submit}><label>Token of the cluster<br /><textarea rows="4" value=${token} autocomplete="off" spellcheck="false" onInput=${(e) => setToken(e.target.value)}></textarea></label>
      <p><label><input type="checkbox" checked=${keep} onChange=${(e) => setKeep(e.target.checked)} /> Keep it until this tab is closed</label></p>
      <button type="submit">Sign in</button></form>
    <p class="note">A token that ends after an hour: <code>kubectl create token SERVICEACCOUNT --duration=1h</code>. The page acts with its rights and stores it nowhere else.</p></main>`;
}
