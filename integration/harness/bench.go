package harness

// Measured is the result of bench as JSON.
type Measured struct {
	Scenario       string   `json:"scenario"`
	Published      int64    `json:"published"`
	Delivered      int64    `json:"delivered"`
	Lost           int64    `json:"lost"`
	Duplicates     int64    `json:"duplicates"`
	Reordered      int64    `json:"reordered"`
	Seconds        float64  `json:"seconds"`
	Rate           float64  `json:"deliveries_per_second"`
	CPU            float64  `json:"server_cpu_seconds_per_million"`
	ServerCores    float64  `json:"server_cores"`
	GeneratorCores float64  `json:"generator_cores"`
	P50            float64  `json:"p50_us"`
	P90            float64  `json:"p90_us"`
	P99            float64  `json:"p99_us"`
	P999           float64  `json:"p999_us"`
	Max            float64  `json:"max_us"`
	Connections    int      `json:"connections"`
	Handshakes     float64  `json:"handshakes_per_second"`
	Memory         *float64 `json:"server_bytes_per_connection"`
	Interrupted    bool     `json:"interrupted"`
	Errors         []string `json:"errors"`
}
