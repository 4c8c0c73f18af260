import { useState } from "preact/hooks";
import type { SignInRow, StartedSignIn } from "../../../src/features/console/access-types.ts";
import type { ActionResult } from "../../../src/features/console/api-types.ts";
import { call } from "../api.ts";
import { formatDate, t } from "../i18n/texts.ts";
import { Bounded } from "../ui/bounded.tsx";
import { Failure, useAction } from "../ui/failure.tsx";
import { Commands, Foreign, Name, Pending, State } from "../ui/parts.tsx";
import { useData } from "../ui/use-data.ts";

export function SignIns() {
  const { data, error, reload } = useData<{ readonly signIns: readonly SignInRow[] }>("sign-ins", "sources", "lists");
  if (!data) return <Pending error={error} retry={reload} />;
  return (
    <>
      {data.signIns.length === 0 && <p>{t("noSignIns")}</p>}
      <div class="cards wide-cards">
        <Bounded>
          {data.signIns.map((row) => (
            <SignIn key={row.source} row={row} reload={reload} />
          ))}
        </Bounded>
      </div>
      <Commands lines={["toolyard login NAME", "toolyard logout NAME"]} />
    </>
  );
}

function SignIn({ row, reload }: { readonly row: SignInRow; readonly reload: () => Promise<void> }) {
  const { isBusy, error, act } = useAction();
  const [message, setMessage] = useState("");
  const { source, state, reason, isPersonal, isSignedIn, mayChange } = row;
  const path = `sign-ins/${encodeURIComponent(source)}`;
  const begin = (): void => {
    // The tab is opened before the request, because browsers block tabs that no click has opened.
    const tab = open("about:blank", "_blank");
    if (tab) tab.opener = null;
    void act(async () => {
      try {
        const { location: address } = await call<StartedSignIn>("POST", path, { body: {} });
        (tab ?? window).location.assign(address);
        setMessage(t("signInOpened"));
      } catch (failure) {
        tab?.close();
        throw failure;
      }
    });
  };
  const end = (): void =>
    void act(async () => {
      setMessage((await call<ActionResult>("DELETE", path)).message);
      await reload();
    });
  return (
    <section class="card" aria-label={source}>
      <h2>
        <Name text={source} /> <State state={state} />
      </h2>
      <p class={isSignedIn ? "state ready" : "dim"}>{t(isSignedIn ? "signedIn" : "notSignedIn")}</p>
      <p class="dim">{t(isPersonal ? "signInPersonal" : "signInShared")}</p>
      {isSignedIn ? <Facts row={row} /> : reason !== undefined && <Foreign text={reason} />}
      {mayChange ? (
        <p class="actions">
          <button class={isSignedIn ? "" : "main"} disabled={isBusy} onClick={begin}>
            {t(isSignedIn ? "signInAgain" : "signIn")}
          </button>
          {isSignedIn && (
            <button disabled={isBusy} onClick={end}>
              {t("signOut")}
            </button>
          )}
        </p>
      ) : (
        <p class="dim">{t("signInByAdmins")}</p>
      )}
      <p role="status">{!error && <Foreign text={message} />}</p>
      {error && <Failure error={error} />}
    </section>
  );
}

function Facts({ row: { issuer = "", scopes = [], expiresAt, isRenewable } }: { readonly row: SignInRow }) {
  return (
    <dl>
      <dt>{t("issuer")}</dt>
      <dd>
        <Name text={issuer} />
      </dd>
      <dt>{t("scopes")}</dt>
      <dd>
        <Name text={scopes.join(" ") || "–"} />
      </dd>
      <dt>{t("expires")}</dt>
      <dd>
        {expiresAt === undefined ? "–" : formatDate(expiresAt)} {isRenewable && t("renewed")}
      </dd>
    </dl>
  );
}
