"""The words that templates are filled with."""
# ruff: noqa: E501

TOWNS = """Oslo Rome Halifax Lisbon Porto Leeds Denver Seattle Utrecht Berlin Paris London Madrid Vienna Prague Dublin Cork Galway
Helsinki Tampere Turku Oulu Stockholm Malmö Gothenburg Copenhagen Aarhus Odense Bergen Trondheim Hamburg Cologne Munich Leipzig
Dresden Bonn Zurich Geneva Basel Bern Milan Turin Naples Bologna Florence Venice Trento Palermo Athens Sofia Bucharest Budapest
Warsaw Kraków Gdańsk Riga Tallinn Tartu Vilnius Kaunas Minsk Kyiv Lviv Odesa Moscow Istanbul Ankara Izmir Tbilisi Yerevan Baku
Tehran Baghdad Cairo Tunis Rabat Casablanca Accra Lagos Abuja Nairobi Mombasa Kisumu Kampala Kigali Durban Pretoria Johannesburg
Delhi Mumbai Pune Chennai Kolkata Bangalore Hyderabad Jaipur Karachi Lahore Dhaka Colombo Kathmandu Bangkok Hanoi Saigon Manila
Cebu Davao Jakarta Bandung Bali Singapore Penang Taipei Tokyo Osaka Kyoto Sapporo Fukuoka Seoul Busan Beijing Shanghai Shenzhen
Perth Adelaide Hobart Melbourne Sydney Brisbane Cairns Darwin Auckland Wellington Christchurch Dunedin Toronto Montreal Ottawa
Vancouver Calgary Edmonton Winnipeg Regina Quebec Boston Chicago Dallas Austin Houston Phoenix Tucson Portland Oakland Miami
Orlando Tampa Atlanta Savannah Nashville Memphis Tulsa Omaha Detroit Cleveland Columbus Pittsburgh Philadelphia Baltimore Richmond
Raleigh Charlotte Albany Buffalo Rochester Brooklyn Queens Minneapolis Milwaukee Madison Boise Reno Fresno Sacramento Honolulu
Anchorage Lima Cusco Quito Bogotá Medellín Cali Caracas Santiago Valparaíso Montevideo Asunción Recife Salvador Curitiba Brasília
Córdoba Rosario Mendoza Manchester Liverpool Sheffield Bristol Bath York Norwich Leicester Nottingham Exeter Cardiff Swansea
Glasgow Edinburgh Aberdeen Dundee Belfast Brighton Dover Plymouth Oxford Cambridge Ghent Bruges Antwerp Ostend Brussels Liège
Rotterdam Delft Leiden Haarlem Groningen Maastricht Lyon Nice Lille Nantes Rennes Bordeaux Toulouse Marseille Strasbourg Seville
Granada Valencia Bilbao Cádiz Málaga Barcelona Zagreb Split Ljubljana Sarajevo Belgrade Skopje Tirana Valletta Nicosia Reykjavík
Norway Portugal Canada Germany Spain France Japan Iceland Ireland Scotland Wales Mexico Peru Chile Brazil Argentina Vietnam Kenya
Ghana Morocco Greece Croatia Poland Estonia Finland Sweden Denmark Austria Switzerland Texas Oregon Vermont Maine Colorado Ohio
|New York|San Diego|San Francisco|Los Angeles|Las Vegas|New Orleans|St. Louis|Salt Lake City|Santa Fe|San Antonio|Kansas City
|Cape Town|Da Nang|Ho Chi Minh City|Chiang Mai|Kuala Lumpur|Hong Kong|Abu Dhabi|Tel Aviv|Addis Ababa|Dar es Salaam|Buenos Aires
|São Paulo|Rio de Janeiro|Porto Alegre|Belo Horizonte|La Paz|San José|Santo Domingo|Port Louis|The Hague|Den Bosch|Le Havre
|New Zealand|South Korea|South Africa|Costa Rica|North Carolina|Nova Scotia|Milton Keynes|Stoke-on-Trent"""
FIRMS = """Google Netflix Spotify Stripe Shopify Figma Adobe Shell BP Siemens Bosch Nokia Ericsson Airbus Boeing Tesla Ford Volvo
Scania Toyota Honda Fiat Ferrari Audi BMW Intel Nvidia AMD IBM Oracle SAP Salesforce Microsoft Apple Amazon Meta Twitter Reddit
Uber Lyft Airbnb Booking Expedia Zalando Ikea Lidl Aldi Tesco Sainsbury's Walmart Costco Target Starbucks McDonald's Subway Nike
Adidas Puma Reebok Unilever Nestlé Danone Heineken Pfizer Novartis Roche Bayer Merck Moderna Deloitte KPMG EY PwC McKinsey
Accenture Capgemini Infosys Wipro Barclays HSBC Santander UBS ING Revolut Monzo Wise Klarna Visa Mastercard PayPal Vodafone Orange
Telefónica Verizon Sony Samsung LG Panasonic Philips Ubisoft EA Nintendo Valve Mozilla GitHub GitLab Atlassian Dropbox Slack Zoom
Oxfam Greenpeace UNICEF NASA SpaceX Lufthansa Ryanair Emirates FedEx UPS DHL Maersk Acme Globex Initech Hooli Umbrella Contoso
Northwind Fabrikam Brightwater Kestrel Nonna Bella Helix Vertex Lumen Quanta Zephyr Nimbus Orbit Cobalt Argon Solstice Meridian
|Goldman Sachs|Morgan Stanley|Deutsche Bank|Bank of America|Red Cross|General Electric|Rolls-Royce|Warner Bros|Burger King
|Whole Foods|Trader Joe's|Mayo Clinic|Green Valley School|St. Mary's Hospital|Harbour Bank|Oak Street Clinic|Blue River Labs
|North Star Logistics|City Museum|Bright Futures|Lakeside Academy|Karlsson & Co|Studio Nine|Iron Works|Silver Fern Foods"""
PEOPLE = """Anna Ben Carla David Emma Felix Greta Hugo Ines Jake Kim Laura Marco Nina Omar Paula Quentin Rosa Sam Tina Uma Victor
Wendy Xavier Yara Zoe Alex Alice Bob Beth Charlie Chris Dana Daniel Danielle Eva Frank Gina Henry Ivan Ivy Jack Jane Jess John
Jonas Julia Karl Kate Katya Leo Liam Lily Lizzy Luis Maria Marta Max Mei Mia Mike Mo Nick Noah Nora Oliver Olga Oscar Pat Pavel
Peter Piotr Priya Rafael Ravi Rita Rob Robin Ruth Samantha Sara Sasha Sofia Stella Steve Sven Tara Theo Tim Tom Vera Will William
Yuki Yusuf Zara Aaron Ada Ahmed Aisha Ali Amir Andrea Andy Bella Bianca Cleo Cara Diego Ella Elena Elias Erik Fatima Finn Giulia
Hana Hassan Ian Ingrid Isabel Jamal Jordan Kai Kofi Lea Lena Lars Lucas Luna Magda Mateo Naomi Nadia Otto Pablo Petra Rania
Ronan Rowan Riley Sean Selma Tariq Tess Ulla Vik Wei Zain"""
SURNAMES = "Nowak Klein Berg Silva Lee Smith Jones Rossi Sato Kowalska Novak Weber Costa Kim Patel Khan Olsen Larsen Moreau Dubois"
ROLES = """nurse|head nurse|teacher|history teacher|school principal|librarian|journalist|editor|press officer|copywriter|translator
|software engineer|senior engineer|staff engineer|tech lead|team lead|engineering manager|product manager|project manager
|data analyst|senior analyst|data scientist|designer|lead designer|UX designer|architect|civil engineer|electrician|plumber
|carpenter|mechanic|welder|farmer|gardener|florist|baker|pastry chef|cook|head chef|sous chef|waiter|barista|bartender
|shop assistant|store manager|cashier|accountant|auditor|bookkeeper|financial adviser|bank clerk|lawyer|paralegal|partner
|judge|police officer|detective|firefighter|paramedic|dispatcher|soldier|pilot|flight attendant|bus driver|truck driver|taxi driver
|courier|postman|physiotherapist|psychologist|therapist|dentist|doctor|surgeon|vet|pharmacist|midwife|lab technician|biologist
|chemist|physicist|researcher|postdoc|professor|lecturer|PhD student|intern|apprentice|trainee|consultant|recruiter|HR manager
|sales manager|marketing manager|head of marketing|head of sales|head of design|director of operations|vice president|CEO|CTO|CFO
|COO|founder|real estate agent|insurance broker|yoga teacher|personal trainer|football coach|musician|violinist|dancer|actor
|photographer|painter|illustrator|writer|novelist|film director|sound engineer|stay-at-home dad|stay-at-home mom|freelancer
|social worker|nanny|childminder|priest|politician|security guard|cleaner|tailor|hairdresser|tour guide|zookeeper|support agent
|site manager|shift supervisor|warehouse worker|office manager|executive assistant|beekeeper|game developer|web developer"""
WORKPLACES = """a bank|a hospital|the hospital|the museum|a museum|the post office|a law firm|a startup|a bakery|the city council|the library
|a school|the university|a small startup|a clinic|a pharmacy|a hotel|a restaurant|a nursing home|the airport|a garage|a call centre
|a publishing house|an insurance company|a design agency|a consultancy|the ministry|a non-profit|a charity|a brewery|a supermarket"""
LIKINGS = """coffee|tea|meat|fish|sushi|jazz|techno|opera|running|jogging|swimming|yoga|tennis|football|chess|the gym|horror films
|reality shows|video games|alcohol|beer|wine|smoking|sugar|milk|cheese|chocolate|spicy food|mushrooms|olives|peanuts|camping|hiking
|gardening|knitting|cycling|skiing|climbing|pilates|podcasts|poetry|painting|cats|dogs|winter|Mondays|crowds|karaoke|meditation
|working from home|remote work|early mornings|getting up early|long walks|fast food|pizza|pasta|soda|energy drinks|eggs|bread|gluten
|dairy|Twitter|Instagram|my podcast|golf|boxing|salsa dancing|piano|guitar|the news|anime|manga|metal|country music|broccoli|cooking"""
FIELDS = "law|numbers|design|care work|construction|marketing|data|cooking|music|sales"
