import { describeSeveralClients } from "./several-clients.ts";

describeSeveralClients({ era: "legacy", door: "HTTP" });
describeSeveralClients({ era: "legacy", door: "HTTP", isolation: "session" });
