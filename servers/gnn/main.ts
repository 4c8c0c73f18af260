#!/usr/bin/env node
import { runService } from "../shared/run.ts";
import { gnn } from "./service.ts";

await runService(gnn);
