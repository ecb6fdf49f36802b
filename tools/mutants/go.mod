// A mutation test of the packages above; scripts/mutants.sh runs it.
module github.com/millrace/millrace/tools/mutants

go 1.26.0
