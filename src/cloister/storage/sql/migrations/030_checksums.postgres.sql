-- A restore replaces all rows; these were the only ones that the role could not remove.
GRANT DELETE ON generation TO cloister_maintenance;
