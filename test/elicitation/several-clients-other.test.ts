import { describeSeveralClients } from "./several-clients.ts";

describeSeveralClients({ era: "modern", door: "HTTP" });
describeSeveralClients({ era: "legacy", door: "HTTP+SSE" });
describeSeveralClients({ era: "legacy", door: "HTTP", source: "HTTP+SSE" });
