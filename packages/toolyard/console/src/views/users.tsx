import { useState } from "preact/hooks";
import type { ActionResult, CallerRow } from "../../../src/features/console/api-types.ts";
import type { ClientRow, NewUser, SetPassword, UserList, UserRow } from "../../../src/features/console/user-types.ts";
import { call, session } from "../api.ts";
import { formatDate, formatNumber, t } from "../i18n/texts.ts";
import { Failure, useAction, type ActionState } from "../ui/failure.tsx";
import { Commands, CopyButton, Foreign, Name, Pending } from "../ui/parts.tsx";
import { TableSection } from "../ui/table.tsx";
import { useData } from "../ui/use-data.ts";

export function Users() {
  return (
    <>
      {session.value?.mayChange ? <Accounts /> : <p class="dim">{t("usersForAdmins")}</p>}
      <Callers />
      <Commands lines={["toolyard user list", "toolyard user add NAME --group GROUP", "toolyard client list"]} />
    </>
  );
}

function Accounts() {
  const { data, error, reload } = useData<UserList>("users", "sources");
  const [done, setDone] = useState<SetPassword>();
  const action = useAction();
  if (!data) return <Pending error={error} retry={reload} />;
  if (!data.hasUsers) return <p>{t("noBuiltin")}</p>;
  const change = (method: "POST" | "DELETE", path: string, body?: object): Promise<void> =>
    action.act(async () => {
      setDone(undefined);
      setDone(await call<SetPassword | ActionResult>(method, path, body ? { body } : {}));
      await reload();
    });
  return (
    <>
      <div role="status">
        {done && (
          <p class="done">
            <Foreign text={done.message} />{" "}
            {done.password !== undefined && (
              <>
                {t("passwordOnce")} <code>{done.password}</code> <CopyButton text={done.password} />
              </>
            )}
          </p>
        )}
      </div>
      {action.error && <Failure error={action.error} />}
      <UserTable users={data.users} isBusy={action.isBusy} change={change} />
      <AddUser action={action} change={change} />
      <ClientTable clients={data.clients} isBusy={action.isBusy} change={change} />
    </>
  );
}

type Change = (method: "POST" | "DELETE", path: string, body?: object) => Promise<void>;

interface UserTableProps {
  readonly users: readonly UserRow[];
  readonly isBusy: boolean;
  readonly change: Change;
}

function UserTable({ users, isBusy, change }: UserTableProps) {
  return (
    <TableSection title={t("users")} heads={["name", "groups", "roles", "signIn", "actions"]}>
      {users.map((user) => (
        <UserLine key={user.sub} user={user} isBusy={isBusy} change={change} />
      ))}
    </TableSection>
  );
}

function UserLine({ user, isBusy, change }: Omit<UserTableProps, "users"> & { readonly user: UserRow }) {
  const { name, groups, roles, isAdmitted, hasPassword, provider, isYou } = user;
  const path = `users/${encodeURIComponent(name)}`;
  const ways = [...(hasPassword ? [t("password")] : []), ...(provider === undefined ? [] : [provider])];
  return (
    <tr>
      <th scope="row">
        <Name text={name} /> {isYou && <small class="dim">{t("you")}</small>}
        {!isAdmitted && <small class="state down">{t("notAdmitted")}</small>}
      </th>
      <td>
        <Name text={groups.join(", ")} />
      </td>
      <td>
        <Name text={roles.join(", ")} />
      </td>
      <td>
        <Name text={ways.join(", ")} />
      </td>
      <td class="actions">
        <button
          class="small"
          disabled={isBusy}
          onClick={() => {
            if (confirm(t("resetConfirm", { name }))) void change("POST", `${path}/password`, {});
          }}
        >
          {t("resetPassword")}
        </button>
        <button class="small" disabled={isBusy} onClick={() => void change("POST", `${path}/sign-out`, {})}>
          {t("signOutEverywhere")}
        </button>
        {!isYou && (
          <button
            class="small"
            disabled={isBusy}
            onClick={() => {
              if (confirm(t("removeUserConfirm", { name }))) void change("DELETE", path);
            }}
          >
            {t("remove")}
          </button>
        )}
      </td>
    </tr>
  );
}

function AddUser({ action, change }: { readonly action: ActionState; readonly change: Change }) {
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const text = (name: string): string => String(data.get(name) ?? "").trim();
    const groups = text("groups")
      .split(",")
      .map((group) => group.trim())
      .filter((group) => group !== "");
    const password = String(data.get("password") ?? "");
    const body: NewUser = { name: text("name"), groups, ...(password !== "" && { password }) };
    form.reset();
    await change("POST", "users", body);
  };
  return (
    <form
      class="card form"
      aria-label={t("addUser")}
      onSubmit={(event) => void submit(event as unknown as SubmitEvent)}
    >
      <h2>{t("addUser")}</h2>
      <label>
        {t("name")} <input name="name" required autocomplete="off" />
      </label>
      <label>
        {t("groupsHint")} <input name="groups" autocomplete="off" />
      </label>
      <label>
        {t("passwordHint")} <input name="password" type="password" autocomplete="new-password" />
      </label>
      <p>
        <button class="main" disabled={action.isBusy}>
          {t("add")}
        </button>
      </p>
    </form>
  );
}

interface ClientTableProps {
  readonly clients: readonly ClientRow[];
  readonly isBusy: boolean;
  readonly change: Change;
}

function ClientTable({ clients, isBusy, change }: ClientTableProps) {
  if (clients.length === 0) return <p class="dim">{t("noClients")}</p>;
  return (
    <TableSection title={t("clients")} heads={["name", "address", "since", "actions"]}>
      {clients.map(({ id, name, redirects, registeredAt }) => (
        <tr key={id}>
          <th scope="row">
            <Name text={name === "" ? id : name} />
            <small class="dim">
              <Name text={id} />
            </small>
          </th>
          <td>
            <Foreign text={redirects.join(" ")} />
          </td>
          <td>{registeredAt === undefined ? "–" : formatDate(registeredAt)}</td>
          <td>
            <button
              class="small"
              disabled={isBusy}
              onClick={() => {
                if (confirm(t("removeClientConfirm", { name: name === "" ? id : name })))
                  void change("DELETE", `clients/${encodeURIComponent(id)}`);
              }}
            >
              {t("remove")}
            </button>
          </td>
        </tr>
      ))}
    </TableSection>
  );
}

function Callers() {
  const { data, error, reload } = useData<{ readonly callers: readonly CallerRow[] }>("callers", "sources");
  if (!data) return <Pending error={error} retry={reload} />;
  return (
    <TableSection title={t("callers")} heads={["name", "kind", "callsTotal", "errorsTotal", "programs", "lastCall"]}>
      {data.callers.map(({ id, name, kind, calls, programs, lastCall }) => (
        <tr key={id}>
          <th scope="row">
            <Name text={name} />
          </th>
          <td>{t(`caller_${kind}`)}</td>
          <td class="number">{formatNumber(calls.calls)}</td>
          <td class="number">{formatNumber(calls.errors)}</td>
          <td>
            <Foreign text={programs.join(", ")} />
          </td>
          <td>{lastCall === undefined ? "–" : formatDate(lastCall)}</td>
        </tr>
      ))}
    </TableSection>
  );
}
