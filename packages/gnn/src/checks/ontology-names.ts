/**
 * Names of the Active Inference Ontology that GNN files use. Only the names are stored, since only they are compared.
 */
export const TERMS: ReadonlySet<string> = new Set(
  (
    "Action BetaParameter BetaUpdateTerm ConstraintParameter ControlInputMatrix ControlVariance ExpectedFreeEnergy " +
    "ExpectedFreeEnergyPerPolicy GammaParameter GenerativeModel GenerativeProcess GoalConstraintVariance Habit " +
    "HiddenState InferenceIterations InitialBeta InitialPolicyProbability InitialStateVariance LikelihoodMapping " +
    "LikelihoodMatrix LogPreferenceVector NextHiddenState NumberOfAgents ObservableState Observation " +
    "ObservationMatrix Policy PolicyVector PosteriorBelief Precision PrecisionParameter Preference Preferences Prior " +
    "PriorBelief PriorOnAction PriorOverHiddenStates RecognitionMatrix SoftminTemperature StateTransitionMatrix Time " +
    "TimeStep TrajectoryLength TransitionMatrix VariationalFreeEnergy"
  ).split(" "),
);

/** Terms that end in the number of a modality or factor: `LikelihoodMatrixModality1`. */
const NUMBERED =
  /^(?:(?:LikelihoodMatrix|LogPreferenceVector|Observation)Modality|(?:Action|HiddenState|NextHiddenState|PolicyVector|PriorOverHiddenStates|TransitionMatrix)Factor)\d{1,4}$/;

export function isKnownTerm(term: string): boolean {
  return TERMS.has(term) || NUMBERED.test(term);
}
